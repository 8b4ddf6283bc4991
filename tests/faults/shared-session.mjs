// @ts-check
/** A session that several processes write to: how it begins, and whether all of it is there. */

import assert from "node:assert/strict";
import { createReadStream } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { openStore } from "../../js/index.js";
import { chance, digest } from "./tools.mjs";

const KB = 1000;
const MB = 1000 * KB;

/**
 * What is appended, in a session of its own each: all of it would not fit into one context.
 * @param {{ lines: number, long: number, blobs: number }} wholes how many of each where nothing is scaled down
 * @returns {{ name: string, kind: "content" | "line", bytes: number, whole: number, isContext: boolean }[]}
 */
export function loads({ lines, long, blobs }) {
  return [
    { name: "lines of 1 KB", kind: "content", bytes: KB, whole: lines, isContext: true },
    { name: "lines of 1 MB", kind: "line", bytes: MB, whole: long, isContext: false },
    { name: "blobs of 20 MB", kind: "content", bytes: 20 * MB, whole: blobs, isContext: false },
  ];
}

/** @param {string} home */
export async function beginSession(home) {
  const store = await openStore({ home, project: "/" });
  const { id } = await store.create();
  await store.close();
  return id;
}

/**
 * In `messages()`, on disk, each writer's in its order; and in one context, if they fit one.
 * @param {{ home: string, id: string, written: { id: string, hash: string }[][], isContext: boolean }} options
 */
export async function allIsThere({ home, id, written, isContext }) {
  const store = await openStore({ home, project: "/" });
  const session = await store.session(id);
  const order = new Map(written.map((records, writer) => [String(writer), records.values()]));
  let count = 0;
  for await (const message of session.messages()) {
    const writer = message.content.slice(0, message.content.indexOf(":"));
    const expected = order.get(writer)?.next().value;
    assert.deepEqual({ id: message.id, hash: digest(message) }, expected, `message ${count}, of writer ${writer}`);
    count += 1;
  }
  const all = written.flat();
  assert.equal(count, all.length, "messages");
  assert.deepEqual(await idsOnDisk(join(session.path, "messages.jsonl")), new Set(all.map(({ id }) => id)));
  if (isContext) {
    const { includedMessageCount, messages } = await session.context({ window: 2 ** 31, encoding: "estimate-1" });
    assert.deepEqual([includedMessageCount, messages.length], [all.length, all.length], "in the context");
  }
  await store.close();
  return count;
}

/** Every line is one record, once. @param {string} path */
async function idsOnDisk(path) {
  const ids = new Set();
  for await (const line of createInterface({ input: createReadStream(path) })) {
    // Who looks while another writes takes the beginning of that line for a torn one, and puts a line feed before its
    // own.
    if (line === "") continue;
    const { id } = JSON.parse(line);
    assert.ok(!ids.has(id), `${id} is on disk twice`);
    ids.add(id);
  }
  return ids;
}

/** What an operation appends, the same each time. @param {string} operation */
export function messagesOf(operation) {
  const those = chance([...operation].reduce((sum, letter) => Math.imul(sum, 31) + letter.charCodeAt(0), 7));
  return Array.from({ length: 1 + those.below(4) }, (_, at) => ({
    role: "user",
    content: `${operation}:${at} ${"x".repeat(those.size(10, 50_000))}`,
  }));
}
