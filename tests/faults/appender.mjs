// @ts-check
/**
 * Appends to a session, and says of each append, once it is acknowledged, what the ids and hashes are: one line of JSON
 * each; of `mixed` ones also when a write begins. Runs in Node, Deno and Bun. `<home> <session id> <plan>`, the plan as
 * JSON:
 * @typedef {object} Plan
 * @property {number} seed
 * @property {number} writer its number, which begins each text
 * @property {number} count how many messages at least
 * @property {"mixed" | "content" | "line"} kind `mixed`: any size, in batches too; `content`: one text of `bytes`,
 *   which
 *   may become a blob; `line`: a line of `bytes`, of texts that each are too short for a blob
 * @property {number} [bytes]
 */

import { writeSync } from "node:fs";
import process from "node:process";
import { NodeStorage, openStore } from "../../js/index.js";
import { chance, digest } from "./tools.mjs";

const KIB = 1024;
const MIB = 1024 * KIB;
/** Below what becomes a blob. */
const SHORT = 200 * KIB;
/** What a reader could take for an end, a beginning or another line. */
const TRAPS = ['"}', "\\", '\n{"v":1,"id":"', "\u2028", "é", "漢", "\u0000", '","crc":"00000000"}\n', "\ufeff"];

const [home = "", id = "", json = ""] = process.argv.slice(2);
/** @type {Plan} */
const { seed, writer, count, kind, bytes = 0 } = JSON.parse(json);
const random = chance(seed);
const pool = randomText(256 * KIB);
let number = 0;

/** Letters, and now and then a trap. @param {number} length in UTF-16 units */
function randomText(length) {
  let text = "";
  while (text.length < length) {
    text += random.below(64) === 0 ? TRAPS[random.below(TRAPS.length)] : random.below(2 ** 30).toString(36);
  }
  return text.slice(0, length);
}

/** A text that no other append has. @param {number} length in UTF-16 units */
function text(length) {
  const head = `${writer}:${number} `;
  const from = random.below(pool.length);
  const turned = pool.slice(from) + pool.slice(0, from);
  const rest = Math.max(0, length - head.length);
  return head + turned.repeat(Math.ceil(rest / turned.length)).slice(0, rest);
}

/** @param {number} length */
function draft(length) {
  number += 1;
  if (kind !== "line") return { role: "user", content: text(length) };
  const parts = Array.from({ length: Math.ceil(length / SHORT) }, () => ({ text: text(SHORT) }));
  return { role: "assistant", content: `${writer}:${number}`, assistant: { reasoning: parts } };
}

function mixedBatch() {
  if (random.below(500) === 0) return [draft(50 * MIB)];
  if (random.below(4) > 0) return [draft(random.size(100, 8 * MIB))];
  // Batches of short texts are one long write, which a kill can cut; of long ones they are many blobs.
  if (random.below(2) === 0) return Array.from({ length: 20 }, () => draft(SHORT));
  const max = random.below(10) === 0 ? 8 * MIB : 256 * KIB;
  return Array.from({ length: 2 + random.below(19) }, () => draft(random.size(100, max)));
}

/** @param {unknown} what */
function say(what) {
  // In one piece, and gone before the next step: a kill must not take away what was acknowledged.
  writeSync(1, `${JSON.stringify(what)}\n`);
}

/** Says when a write begins: hardly a kill would fall inside one by itself. */
class AnnouncingStorage extends NodeStorage {
  /** @type {NodeStorage["append"]} */
  append(path, bytes, options) {
    say("write");
    return super.append(path, bytes, options);
  }

  /** @type {NodeStorage["replace"]} */
  replace(path, bytes) {
    say("write");
    return super.replace(path, bytes);
  }
}

const storage = kind === "mixed" ? new AnnouncingStorage({ root: home }) : new NodeStorage({ root: home });
const store = await openStore({ home, project: "/", storage });
const session = await store.session(id);
say("open");
while (number < count) {
  const drafts = kind === "mixed" ? mixedBatch() : [draft(bytes)];
  const durability = random.below(kind === "mixed" ? 2 : 100) === 0 ? "durable" : "buffered";
  const { records } = await session.append(drafts, { durability });
  say(records.map(({ id }, at) => ({ id, hash: digest(drafts[at]) })));
}
await store.close();
