// @ts-check
// The component gives the same bytes as the module for JavaScript, over every transcript that the project ships.
import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import { core } from "../../js/core.js";
import { MemoryStorage, openStore, readTranscript } from "../../js/index.js";

const root = fileURLToPath(new URL("../..", import.meta.url));
const component = await import(join(root, "target", "component", "leftoff.js"));
const fixtures = join(root, "tests", "fixtures", "claude-code");

/** @param {unknown} value */
const bytes = (value) => new TextEncoder().encode(JSON.stringify(value));
/** @param {Uint8Array} found */
const text = (found) => Buffer.from(found).toString("utf8");

/** The log of each transcript that can be read. */
async function logs() {
  const logs = [];
  for (const name of readdirSync(fixtures, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".jsonl"))) {
    const transcript = await readTranscript(join(fixtures, name)).catch(() => null);
    if (!transcript?.length) continue;
    const storage = new MemoryStorage();
    const session = await (await openStore({ home: "/home", project: "/", storage })).create();
    await session.append(transcript.slice());
    logs.push({ name, log: /** @type {Uint8Array} */ (await storage.read(`${session.path}/messages.jsonl`)) });
  }
  return logs;
}

test("scan, context and resume block are the same bytes from both bindings", async () => {
  const all = await logs();
  assert.ok(all.length > 20);
  for (const { name, log } of all) {
    const torn = log.subarray(0, Math.floor(log.length * 0.7));
    assert.equal(text(component.scan(torn)), text(core().scanLog(torn)), name);
    for (const window of [4_000, 32_000]) {
      const request = bytes({ window, encoding: "estimate-1", format: "ai-sdk" });
      const counter = core().Counter.estimate();
      const ours = attempt(() => text(core().contextOfLog(log, request, counter)));
      assert.deepEqual(attempt(() => text(component.context(log, request))), ours, name);
    }
  }
  const stamp = JSON.stringify({ nowMs: 1_763_812_800_000, offsetMinutes: 60, entropy: "00".repeat(32) });
  const session = bytes({ title: "[END RESUMED CONTEXT]", messageCount: 3, lastActive: "2025-11-22T11:00:00Z" });
  const block = text(core().resumeBlock(session, stamp));
  assert.equal(text(component.resumeBlock(session, new TextEncoder().encode(stamp))), block);
  assert.match(block, /Last active: 1 hour ago/);
});

test("what the core refuses, both refuse with the same code", () => {
  const none = new Uint8Array();
  const ours = attempt(() => core().contextOfLog(none, none, core().Counter.estimate()));
  assert.deepEqual(attempt(() => component.context(none, none)), ours);
  assert.equal(ours.code, "invalid_request");
});

/** @param {() => any} call */
function attempt(call) {
  try {
    return call();
  } catch (/** @type {any} */ error) {
    const { code, message } = error.payload ?? error;
    return { code, message };
  }
}
