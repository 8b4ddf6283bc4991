// @ts-check
// The Rust programs of examples/ do what they say. The other one, `appender`, is run by the fault suites.
// Tries: examples/, src/fs/session/, src/fs/store/
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import { openStore } from "../../js/index.js";
import { exampleOf } from "../../scripts/examples.mjs";

test("a chat goes on where it was left, and JavaScript reads what Rust wrote", async (t) => {
  const home = realpathSync(mkdtempSync(join(tmpdir(), "leftoff-chat-")));
  t.after(() => rmSync(home, { recursive: true, force: true }));
  const chat = exampleOf("chat");
  const said = (/** @type {string[]} */ ...words) => {
    const { status, stdout, stderr } = spawnSync(chat, [home, ...words], { cwd: home, encoding: "utf8" });
    assert.equal(status, 0, stderr);
    return stdout.trim();
  };
  assert.equal(said("Hello", "there"), "I was sent 1 messages.");
  assert.equal(said("Go", "on"), "I was sent 3 messages.");
  const store = await openStore({ home, project: home });
  const [listed] = await store.list();
  assert.equal(listed?.title, "A chat");
  const session = await store.session(listed?.id ?? "");
  const texts = [];
  for await (const { content } of session.messages()) texts.push(content);
  assert.deepEqual(texts, ["Hello there", "I was sent 1 messages.", "Go on", "I was sent 3 messages."]);
  await store.close();
});
