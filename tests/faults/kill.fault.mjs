// @ts-check
/** What was acknowledged outlives `kill -9`, wherever it falls. */
// Tries: js/session/session.js, js/storage/node.js, src/operation/append.rs

import assert from "node:assert/strict";
import { existsSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { openStore } from "../../js/index.js";
import { chance, digest, scene, sha256 } from "./tools.mjs";

/** @import { Start } from "./tools.mjs" */
/** @typedef {ReturnType<typeof chance>} Chance */
/** @typedef {Map<string, string>} HashesById id -> hash of each record that was acknowledged */

const appender = fileURLToPath(new URL("appender.mjs", import.meta.url));
const KILLS_PER_SESSION = 10;
const MAX_WRITERS = 4;
const LOGS = ["events.jsonl", "messages.jsonl"];

/** @type {import("../../scripts/faults.mjs").Fault} */
export default {
  title: "no acknowledged record is lost by kill -9 during appends",
  async run({ scaled, seed }) {
    const random = chance(seed);
    const wanted = scaled(2000);
    const counts = { kills: 0, sessions: 0, acknowledged: 0, torn: 0, "cut blobs": 0 };
    await scene("kill", async ({ folder, start }) => {
      while (counts.kills < wanted) {
        const home = join(folder, String(counts.sessions));
        await oneSession({ home, start, random, counts, until: Math.min(wanted, counts.kills + KILLS_PER_SESSION) });
        rmSync(home, { recursive: true });
      }
    });
    return counts;
  },
};

/** @param {{ home: string, start: Start, random: Chance, counts: Record<string, number>, until: number }} options */
async function oneSession({ home, start, random, counts, until }) {
  /** @type {HashesById} */
  const kept = new Map();
  const path = await beginSession(home, kept);
  const id = path.slice(path.lastIndexOf("session-") + "session-".length);
  let before = logs(path);
  while (counts.kills < until) {
    const writers = Math.min(1 + random.below(MAX_WRITERS), until - counts.kills);
    const killed = Array.from({ length: writers }, (_, writer) => oneWriter({ home, id, writer, start, random }));
    for (const acknowledged of await Promise.all(killed)) {
      for (const { id, hash } of acknowledged) kept.set(id, hash);
    }
    counts.kills += writers;
    counts["cut blobs"] += cutBlobs(path);
    before = checkGrown(before, logs(path));
    await nothingIsLost({ home, id, kept });
  }
  counts.acknowledged += kept.size;
  counts.torn += countTorn(path);
  counts.sessions += 1;
}

/** A session with one record. @param {string} home @param {HashesById} kept */
async function beginSession(home, kept) {
  const store = await openStore({ home, project: "/" });
  const session = await store.create();
  await oneMore(session, kept);
  await store.close();
  return session.path;
}

/**
 * A process that appends until it is killed: after some writes begun and acknowledged, and a moment, so that it falls
 * inside a write, a flush, or between them.
 * @param {{ home: string, id: string, writer: number, start: Start, random: Chance }} options
 * @returns {Promise<{ id: string, hash: string }[]>} what it was told to be kept
 */
async function oneWriter({ home, id, writer, start, random }) {
  const plan = { seed: random.below(2 ** 31), writer, count: 1e9, kind: "mixed" };
  const child = start(process.execPath, [appender, home, id, JSON.stringify(plan)]);
  const [heard, momentMs] = [1 + random.below(8), random.size(0.01, 20)];
  await child.until((said) => said.length >= heard);
  // A timer would be too coarse: a line is written in less than a millisecond.
  for (const start = performance.now(); performance.now() - start < momentMs;)
    await new Promise((resolve) => setImmediate(resolve));
  child.kill();
  const { signal, stderr } = await child.ended;
  assert.equal(signal, "SIGKILL", `it ended before it was killed: ${stderr}`);
  return child.said.filter((said) => Array.isArray(said)).flat();
}

/**
 * A reader that saw nothing before finds each record once, and can append.
 * @param {{ home: string, id: string, kept: HashesById }} options
 */
async function nothingIsLost({ home, id, kept }) {
  const store = await openStore({ home, project: "/" });
  const session = await store.session(id);
  const missing = new Map(kept);
  const seen = new Set();
  for await (const message of session.messages()) {
    assert.ok(!seen.has(message.id), `${message.id} is there twice`);
    seen.add(message.id);
    if (!missing.has(message.id)) continue;
    assert.equal(digest(message), missing.get(message.id), `${message.id} says something else`);
    missing.delete(message.id);
  }
  assert.deepEqual([...missing.keys()], [], "acknowledged, and lost");
  await oneMore(session, kept);
  await store.close();
}

/** @param {import("../../js/session/session.js").Session} session @param {HashesById} kept */
async function oneMore(session, kept) {
  const content = `record ${kept.size}`;
  const { records } = await session.append({ role: "user", content });
  for await (const last of session.messages({ newestFirst: true })) {
    assert.deepEqual([last.id, last.content], [records[0].id, content], "what was appended last is read last");
    break;
  }
  kept.set(records[0].id, sha256(content));
}

/** @param {string} path */
function logs(path) {
  return LOGS.map((name) => readFileSync(join(path, name))).map((bytes) => ({
    bytes,
    size: bytes.length,
    hash: sha256(bytes),
  }));
}

/**
 * What was there is still there, byte for byte.
 * @template {ReturnType<typeof logs>} L
 * @param {L} before
 * @param {L} now
 */
function checkGrown(before, now) {
  before.forEach(({ size, hash }, log) =>
    assert.equal(sha256(now[log].bytes.subarray(0, size)), hash, `${LOGS[log]}: old bytes changed`),
  );
  return now;
}

/** Blobs that were being written: they lie beside their place. @param {string} path */
function cutBlobs(path) {
  const blobs = join(path, "blobs");
  const cut = existsSync(blobs) ? readdirSync(blobs).filter((name) => name.endsWith(".tmp")) : [];
  for (const name of cut) rmSync(join(blobs, name));
  return cut.length;
}

/** How many lines were not written to their end. @param {string} path */
function countTorn(path) {
  return readFileSync(join(path, "messages.jsonl"), "utf8")
    .split("\n")
    .filter((line) => line !== "" && !isJson(line)).length;
}

/** @param {string} line */
function isJson(line) {
  try {
    JSON.parse(line);
    return true;
  } catch {
    return false;
  }
}
