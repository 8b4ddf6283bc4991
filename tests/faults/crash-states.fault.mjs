// @ts-check
/**
 * The power goes at each moment of a store's life, on a disk that keeps no more than it must: whatever it shows then is
 * opened, and nothing acknowledged is missing. After the way of ALICE (Pillai et al., OSDI 2014).
 */
// Tries: js/storage/flush.js, js/storage/move.js, js/storage/whole-file.js, src/operation/append.rs

import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { MemoryStorage, openStore } from "../../js/index.js";
import { bytesOf, crashStates } from "./disk.mjs";
import { LIVES, fingerprint } from "./lives.mjs";
import { Recorder } from "./recorder.mjs";
import { chance, scene, sha256 } from "./tools.mjs";

/** @import { Session } from "../../js/index.js" */
/** @import { Contents, File } from "./disk.mjs" */
/** @import { ToldSession } from "./lives.mjs" */
/** @import { Recording } from "./recorder.mjs" */
/**
 * @typedef {{ sessions: Set<string>, durable: Map<string, Map<string, string>>, sent: Map<string, string> }}
 *   PromisedState `durable`: session -> id -> hash; `sent`: hash -> session
 */

const HOME = "/home";
const LOGS = ["events.jsonl", "messages.jsonl"];
/** States of one recorded life, at most. */
const STATES = 500;
const MIXTURES = 20;
/** Of so many states one is also built a context of, closed and opened again. */
const WHOLE = 3;

/** @type {import("../../scripts/faults.mjs").Fault} */
export default {
  title: "whatever a power cut may leave on a disk, what was acknowledged is read and the session goes on",
  async run({ scaled, seed }) {
    const random = chance(seed);
    const wanted = scaled(100_000);
    const names = Object.keys(LIVES);
    const atMost = Math.max(20, Math.min(STATES, Math.ceil(wanted / names.length / 2)));
    const counts = { states: 0, drawn: 0, lives: 0, moments: 0, "durable records": 0, "records read": 0 };
    return scene("crash-states", async ({ folder }) => {
      while (counts.states < wanted) {
        const name = names[counts.lives % names.length] ?? "";
        const at = join(folder, String(counts.lives));
        counts.lives += 1;
        const lifeSeed = random.below(2 ** 31);
        await oneLife({
          at,
          name,
          lifeSeed,
          counts,
          until: Math.min(wanted, counts.states + (name === "large" ? Math.ceil(atMost / 25) : atMost)),
        });
      }
      return counts;
    });
  },
};

/** @param {{ at: string, name: string, lifeSeed: number, counts: Record<string, number>, until: number }} options */
async function oneLife({ at, name, lifeSeed, counts, until }) {
  const random = chance(lifeSeed);
  mkdirSync(at);
  const recorder = new Recorder(at, random);
  const sent = new Map();
  const recording = await recorder.record(() =>
    (LIVES[name] ?? assert.fail(name))({ home: at + HOME, recorder, random, sent }),
  );
  const seen = new Set();
  // The latest first: of the moments at which a disk may hold the same, the latest has promised the most.
  const moments = momentsOf(recording).reverse();
  counts.moments += moments.length;
  for (const [index, end] of moments.entries()) {
    // Some moments leave hardly a doubt: the others get more than an equal share.
    const share = Math.min(until, counts.states + 4 * Math.ceil((until - counts.states) / (moments.length - index)));
    const promised = promisedBy(recording, end, sent);
    for (const contents of crashStates(recording, { end, random, mixtures: MIXTURES })) {
      if (counts.states >= share) break;
      counts.drawn += 1;
      // Most that are equal are equal at a glance; whether the others are, their bytes say.
      const glance = keyOf(contents, ({ inode, size, zeros }) => `${inode.number} ${size} ${zeros}`);
      if (seen.has(glance)) continue;
      const key = sha256(keyOf(contents, (file) => sha256(bytesOf(file))));
      if (seen.add(glance).has(key)) continue;
      seen.add(key);
      counts.states += 1;
      counts["durable records"] += [...promised.durable.values()].reduce((sum, { size }) => sum + size, 0);
      try {
        counts["records read"] += await obeys(contents, promised, { isWhole: counts.states % WHOLE === 0 });
      } catch (cause) {
        throw new Error(
          `life "${name}" of seed ${lifeSeed}, cut after ${end} of ${recording.trace.length} entries:\n${describeTrace(recording, end)}\nleft\n${describeContents(contents)}`,
          { cause },
        );
      }
      // What the core holds for a store is let go of between turns only.
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
}

/**
 * After each entry that changed something or promised something; a promise goes with what came right before it.
 * @param {Recording} recording
 */
function momentsOf({ trace }) {
  return trace.map((_, index) => index + 1).filter((end) => trace[end]?.kind !== "told");
}

/** @param {Recording} recording @param {number} end @param {Map<string, string>} sent @returns {PromisedState} */
function promisedBy({ trace }, end, sent) {
  /** @type {PromisedState} */
  const promised = { sessions: new Set(), durable: new Map(), sent };
  for (const entry of trace.slice(0, end)) {
    if (entry.kind !== "told") continue;
    /** @type {ToldSession} */
    const { session, kept = [] } = entry.what;
    promised.sessions.add(session);
    const durable = promised.durable.get(session) ?? new Map();
    for (const { id, hash } of kept) durable.set(id, hash);
    promised.durable.set(session, durable);
  }
  return promised;
}

/**
 * States that differ only in what nobody builds on, temporary files and leases, are one.
 * @param {Contents} contents
 * @param {(file: File) => string} shown
 */
function keyOf({ files, folders }, shown) {
  const told = [...files]
    .filter(([path]) => !/\.tmp$|\.open\//.test(path))
    .map(([path, file]) => `${path} ${shown(file)}`);
  return [...told, ...folders.filter((path) => !path.endsWith(".open"))].sort().join("\n");
}

/**
 * The laws. Gives how many records were read.
 * @param {Contents} contents
 * @param {PromisedState} promised
 * @param {{ isWhole: boolean }} options `isWhole`: also by a context, and once more after closing
 */
async function obeys(contents, { sessions, durable, sent }, { isWhole }) {
  const storage = await storageWith(contents);
  const store = await openStore({ home: HOME, project: "/", storage });
  const listed = (await store.list({ all: true })).map(({ id }) => id);
  for (const id of sessions) assert.ok(listed.includes(id), `the session ${id} is not listed: ${listed}`);
  let count = 0;
  for (const id of listed) {
    const session = await store.session(id);
    const found = await allOf(session);
    for (const [message, hash] of found) assert.equal(sent.get(hash), id, `nobody appended ${message} to ${id}`);
    for (const [message, hash] of durable.get(id) ?? [])
      assert.equal(found.get(message), hash, `acknowledged as durable, and lost: ${message}`);
    assert.equal(session.metadata.stats.messageCount, found.size, "messages counted");
    const draft = { role: "user", content: "afterwards" };
    const {
      records: [record],
    } = await session.append(draft);
    const expected = [...found, [record?.id, fingerprint(draft)]];
    assert.deepEqual([...(await allOf(session))], expected);
    if (isWhole) await isWholeAgain({ storage, session, expected });
    count += found.size;
  }
  for (const [path, file] of contents.files) {
    if (!LOGS.some((name) => path.endsWith(name))) continue;
    const bytes = bytesOf(file);
    const after = (await storage.read(path)) ?? new Uint8Array();
    assert.equal(Buffer.compare(bytes, after.subarray(0, bytes.length)), 0, `"${path}" does not begin as it was`);
  }
  return count;
}

/**
 * All is in one context, and there again when it was closed and opened.
 * @param {{ storage: MemoryStorage, session: Session, expected: unknown[] }} options
 */
async function isWholeAgain({ storage, session, expected }) {
  const { includedMessageCount } = await session.context({ window: 2 ** 31, encoding: "estimate-1" });
  assert.equal(includedMessageCount, expected.length, "messages in the context");
  await session.close();
  const store = await openStore({ home: HOME, project: "/", storage });
  const reopened = await store.session(session.id);
  assert.deepEqual([...(await allOf(reopened))], expected, "after it was closed and opened again");
  assert.equal(reopened.metadata.stats.messageCount, expected.length, "messages counted after it was opened again");
}

/** @param {Contents} contents */
async function storageWith({ files, folders }) {
  const storage = new MemoryStorage();
  for (const [path, file] of files) await storage.replace(path, bytesOf(file));
  for (const folder of folders) {
    await storage.replace(`${folder}/x`, new Uint8Array());
    await storage.remove(`${folder}/x`);
  }
  return storage;
}

/** Id -> hash, oldest first, each once. @param {Session} session @returns {Promise<Map<string, string>>} */
async function allOf(session) {
  const found = new Map();
  for await (const message of session.messages()) {
    assert.ok(!found.has(message.id), `${message.id} is there twice`);
    found.set(message.id, fingerprint(message));
  }
  assert.equal(new Set(found.values()).size, found.size, "a message is there twice, under two ids");
  return found;
}

/** @param {Recording} recording @param {number} end */
function describeTrace({ trace }, end) {
  return trace
    .slice(0, end)
    .map((entry, index) => {
      const { kind } = entry;
      if (kind === "told") return `${index} told ${JSON.stringify(entry.what)}`;
      if (kind === "write") return `${index} write #${entry.inode.number} from ${entry.start} to ${entry.end}`;
      if (kind === "sync") return `${index} sync #${entry.inode.number} begun at ${entry.upTo}`;
      const from = kind === "rename" ? `${entry.from} to ` : "";
      return `${index} ${kind} in #${entry.folder.number} ${from}${entry.name}${kind === "unname" ? "" : ` #${entry.inode.number}`}`;
    })
    .join("\n");
}

/** @param {Contents} contents */
function describeContents({ files, folders }) {
  return [
    ...folders.map((path) => `${path}/`),
    ...[...files].map(([path, { size, zeros }]) => `${path}: ${size} bytes, zero ${JSON.stringify(zeros)}`),
  ].join("\n");
}
