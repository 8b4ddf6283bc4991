// @ts-check
// Reading a session piece by piece: both ways, with blobs, while another process writes.
// Tries: src/operation/messages.rs, src/operation/message_pages.rs, src/session/message_reader.rs, src/record/blob.rs
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import { LeftoffError, openStore } from "../../js/index.js";
import { FailingStorage } from "./failing-storage.js";
import { nodePath } from "./node-path.js";

const library = new URL("../../js/index.js", import.meta.url).href;

async function memory() {
  const storage = new FailingStorage();
  const store = await openStore({ home: "/home", project: "/", storage });
  const session = await store.create();
  return { storage, store, session, log: `${session.path}/messages.jsonl`, blobs: `${session.path}/blobs` };
}

/** @param {AsyncIterable<any>} all */
async function collect(all) {
  const list = [];
  for await (const one of all) list.push(one);
  return list;
}

/** @param {number} length @param {string} unit */
const long = (length, unit) => `${unit} begins ${unit.repeat(Math.ceil(length / unit.length))} ends ${unit}`;
const OVER = 256 * 1024 + 1;

test("texts and attachments that are too large for a line lie in blobs, and come back as they were", async () => {
  const { session, storage, log, blobs } = await memory();
  const image = Buffer.from(Uint8Array.from({ length: 40_000 }, (_, at) => (at * 31 + (at >> 8)) & 255));
  const drafts = [
    { role: "user", content: long(OVER, "wörter 👨‍👩‍👧 ") },
    { role: "user", content: long(OVER, "lone \ud83d ") },
    { role: "user", content: "x".repeat(256 * 1024) },
    {
      role: "assistant",
      content: "",
      assistant: {
        reasoning: [{ text: long(OVER, "thought ") }],
        toolCalls: [{ id: "c", name: "Write", arguments: JSON.stringify({ text: long(OVER, "a ") }) }],
      },
    },
    { role: "tool", content: long(9 << 20, "output\n"), tool: { callId: "c", name: "Write" } },
    {
      role: "user",
      content: "",
      attachments: [
        { mime: "image/png", data: image.toString("base64") },
        { mime: "text/plain", data: "no base64".repeat(9_000) },
      ],
    },
  ];
  await session.append(drafts);
  const read = await collect(session.messages());
  const kept = read.map(({ role, content, assistant, tool, attachments }) =>
    JSON.parse(JSON.stringify({ role, content, assistant, tool, attachments })),
  );
  assert.deepEqual(kept, drafts);
  assert.deepEqual((await collect(session.messages({ newestFirst: true }))).reverse(), read);
  const files = (await storage.list(blobs)) ?? [];
  assert.equal(files.length, 6);
  for (const { name } of files) {
    const bytes = /** @type {Uint8Array} */ (await storage.read(`${blobs}/${name}`));
    assert.equal(createHash("sha256").update(bytes).digest("hex"), name);
  }
  const lines = Buffer.from(/** @type {Uint8Array} */ (await storage.read(log)))
    .toString()
    .split("\n");
  assert.ok(lines.every((line) => line.length < 300_000));
});

test("a blob that is missing or damaged costs its middle, and no other message", async () => {
  const { session, storage, blobs } = await memory();
  await session.append([
    { role: "user", content: "before" },
    { role: "user", content: long(OVER, "first ") },
    { role: "user", content: long(OVER, "second ") },
    { role: "user", content: "behind" },
  ]);
  const [one, two] = (await storage.list(blobs)) ?? [];
  await storage.remove(`${blobs}/${one?.name}`);
  await storage.replace(`${blobs}/${two?.name}`, new TextEncoder().encode("damaged"));
  const contents = (await collect(session.messages())).map((message) => message.content);
  assert.deepEqual([contents[0], contents[3], contents.length], ["before", "behind", 4]);
  for (const [content, word] of [
    [contents[1], "first"],
    [contents[2], "second"],
  ]) {
    assert.match(
      content,
      new RegExp(`^${word} .*\\n\\[\\.\\.\\. \\d+ bytes left out \\.\\.\\.\\]\\n.* ends ${word} $`, "s"),
    );
  }
});

test("a context has what lies in a blob whole where it fits, else its ends", async () => {
  const { session, storage, blobs } = await memory();
  const content = Array.from({ length: 60_000 }, (_, n) => `word${n % 100}`).join(" ");
  assert.ok(content.length > OVER);
  await session.append([
    { role: "user", content: "begin" },
    { role: "user", content },
    { role: "user", content: "end" },
  ]);
  const built = async (/** @type {number} */ window) =>
    (await session.context({ window })).messages.map((message) => message.content);
  assert.deepEqual(await built(400_000), ["begin", content, "end"]);
  const [, ends, ...more] = await built(8_000);
  assert.ok(ends.length < 10_000 && ends.startsWith(content.slice(0, 1_000)) && ends.endsWith(content.slice(-1_000)));
  assert.deepEqual(more, ["end"]);
  await storage.remove(blobs);
  assert.deepEqual(await built(400_000), ["begin", ends, "end"]);
});

test("what could not be written as a blob is refused, and the session goes on", async () => {
  const { session, storage, log } = await memory();
  storage.failNext("replace", { code: "disk_full" });
  await assert.rejects(
    session.append({ role: "user", content: long(OVER, "a ") }),
    (error) => error instanceof LeftoffError && error.code === "disk_full",
  );
  assert.equal(await storage.stat(log), null);
  await session.append({ role: "user", content: long(OVER, "a ") });
  assert.equal((await collect(session.messages())).length, 1);
});

test("a message that was written again comes once, as its highest revision in its first place, both ways", async () => {
  const { session } = await memory();
  const line = (/** @type {string} */ id, rev = 0) => ({ id, rev, role: "user", content: `${id} ${rev}` });
  for (const draft of [
    line("a"),
    line("b"),
    line("a", 1),
    line("c"),
    line("b", 2),
    line("b", 1),
    line("d"),
    line("a", 3),
  ])
    await session.append(draft);
  const expected = ["a 3", "b 2", "c 0", "d 0"];
  assert.deepEqual(
    (await collect(session.messages())).map((message) => message.content),
    expected,
  );
  assert.deepEqual(
    (await collect(session.messages({ newestFirst: true }))).map((message) => message.content),
    expected.reverse(),
  );
});

test("whoever follows a session gets what another process appends, in order, until it stops following", async () => {
  const home = mkdtempSync(join(tmpdir(), "leftoff-follow-"));
  const store = await openStore({ home, project: home });
  const session = await store.create();
  await session.append({ role: "user", content: "before" });
  const writer = `
    const { openStore } = await import(${JSON.stringify(library)});
    const store = await openStore({ home: process.argv[1], project: process.argv[1] });
    const session = await store.continue();
    for (let n = 0; n < 200; n += 1) await session.append({ role: "user", content: "x".repeat(n % 7 === 0 ? 300_000 : 10) + n }, { durability: "buffered" });
    await store.close();
  `;
  const stop = new AbortController();
  const following = session.follow({ signal: stop.signal });
  const first = following.next();
  spawn(nodePath, ["--input-type=module", "-e", writer, home], { stdio: "inherit" });
  const contents = [(await first).value.content];
  for await (const message of following) {
    contents.push(message.content);
    if (contents.length === 200) stop.abort();
  }
  assert.deepEqual(
    contents.map((content) => Number(content.replace(/x/g, ""))),
    Array.from({ length: 200 }, (_, n) => n),
  );
  await store.close();
  rmSync(home, { recursive: true });
});

test("what is no reading is refused, and so is a leaf that nobody said", async () => {
  const { session } = await memory();
  await session.append({ role: "user", content: "said" });
  const refused = (/** @type {any} */ reading, /** @type {string} */ code) =>
    assert.rejects(
      collect(session.messages(reading)),
      (error) => error instanceof LeftoffError && error.code === code,
      JSON.stringify(reading),
    );
  for (const reading of [{ leaf: 7 }, { newestFirst: "yes" }, { allBranches: 1 }])
    await refused(reading, "invalid_request");
  await refused({ leaf: "nobody" }, "not_found");
  await assert.rejects(
    session.follow(/** @type {any} */ ({ signal: 7 })).next(),
    (error) => error instanceof LeftoffError && error.code === "invalid_request",
  );
});

test("a log that was cut while it is read is no end, from neither side", async () => {
  for (const newestFirst of [true, false]) {
    const { storage, store, session, log } = await memory();
    await session.append(
      Array.from({ length: 3000 }, (_, n) => ({ role: "user", content: `${n} ${"x".repeat(300)}` })),
    );
    const messages = session.messages({ newestFirst });
    await messages.next();
    await storage.replace(log, new Uint8Array());
    await assert.rejects(collect(messages), { code: "log_shrunk" });
    await store.close();
  }
});

test("who follows a log that was put back to an earlier state is told, and not left to wait", async () => {
  for (const isCut of [true, false]) {
    const { storage, store, session, log } = await memory();
    await session.append([
      { role: "user", content: "1" },
      { role: "user", content: "2" },
    ]);
    const earlier = /** @type {Uint8Array} */ (await storage.read(log));
    const followed = session.follow();
    const next = followed.next();
    await session.append({ role: "user", content: "3" });
    assert.equal((await next).value.content, "3");
    const ended = followed.next();
    await storage.replace(
      log,
      isCut
        ? earlier
        : new TextEncoder().encode(new TextDecoder().decode(earlier).replaceAll('"1"', '"one and more than that"')),
    );
    await session
      .append({ role: "user", content: "4 ".repeat(500) })
      .catch((error) => assert.equal(error.code, "log_replaced"));
    await assert.rejects(ended, (/** @type {any} */ error) => ["log_shrunk", "log_replaced"].includes(error.code));
    await store.close();
  }
});
