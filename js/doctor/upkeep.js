// @ts-check
/**
 * What a store and its sessions have that they should not have, beside what is wrong in the logs: torn tails, derived
 * files that are no good, things that processes left which are gone. Each finding can be mended, and nothing is until
 * somebody says so. No complete line of a log is ever touched.
 */

import { basename, join } from "node:path";

import { LINE_FEED } from "../wasm/bytes.js";
import { nowMs } from "../wasm/clock.js";
import { called } from "../wasm/core.js";
import { derived } from "../storage/derived.js";
import { refuseBug, unlessBug } from "../error.js";
import { Live } from "../session/handle.js";
import { names } from "../placement/placement.js";
import { isAlive } from "../storage/process.js";

/** @import { Place } from "../placement/placement.js" */
/** @import { Storage } from "../storage/contract.js" */
/** @import { FileProblem } from "../types/index.js" */
/** @import { CoreStore } from "../wasm/store.js" */

/**
 * @typedef {object} Finding
 * @property {FileProblem} problem
 * @property {() => Promise<string>} mend says what it did
 */

/** No file is written for so long. A process of this number may be another one by now. */
const DAY_MS = 24 * 60 * 60_000;

/**
 * What is there to mend of a session.
 * @param {Place} place
 * @param {{ live: Live, problems: FileProblem[], core: CoreStore, home: { storage: Storage } }} known `problems`: of its logs
 * @returns {Promise<Finding[]>}
 */
export async function ofSession(place, { live, problems, core, home }) {
  const { storage, path } = place;
  const torn = problems.filter(({ code }) => code === "torn_tail").map((problem) => tornTail(place, problem));
  const found = [
    ...torn,
    ...(await document(place, { live, core, home, isVanished: problems.some(({ code }) => code === "vanished") })),
    ...(await checkpoint(live, home)),
    ...(await leases(live)),
  ];
  for (const folder of [path, join(path, names().blobs), join(path, names().summaries)]) found.push(...(await leftOver(storage, folder)));
  return found;
}

/** Temporary files of processes that are gone. @param {Storage} storage @param {string} folder @returns {Promise<Finding[]>} */
export async function leftOver(storage, folder) {
  const found = [];
  for (const { name, kind } of (await storage.list(folder).catch(unlessBug)) ?? []) {
    const pid = kind === "file" && called((core) => core.temporaryOf(name));
    const path = join(folder, name);
    if (!pid || !(await isLeft(storage, path, Number(pid)))) continue;
    found.push({
      problem: problem(name, "left_over", `process ${pid} is gone and left a temporary file at "${path}"`),
      mend: () => storage.remove(path).then(() => `removed "${path}"`),
    });
  }
  return found;
}

/**
 * What is kept of sessions that are gone: their folders were taken away by hand.
 * @param {{ storage: Storage, folder: string }} cache @param {Set<string>} ids of the sessions that are there
 * @returns {Promise<Finding[]>}
 */
export async function ofNobody({ storage, folder }, ids) {
  const found = [];
  for (const { name } of (await storage.list(folder).catch(unlessBug)) ?? []) {
    const [id, isLeases] = called((core) => core.readKept(name)) ?? ["", false];
    const path = join(folder, name);
    if (!id || ids.has(id) || (isLeases && (await isOpen({ storage, folder }, id)))) continue;
    found.push({
      problem: problem(name, "left_over", `expected the session ${id}, of which "${path}" is, but found none`),
      mend: () => storage.remove(path).then(() => `removed "${path}"`),
    });
  }
  return found;
}

/** Whether a process has a session open, wherever that lies. @param {{ storage: Storage, folder: string }} cache @param {string} id */
async function isOpen(cache, id) {
  const live = new Live({ storage: cache.storage, path: cache.folder, placement: "home", cache, id });
  try {
    return (await live.run("others")).length > 0;
  } finally {
    live.letGo();
  }
}

/** @param {string} file @param {string} code @param {string} message @returns {FileProblem} */
export function problem(file, code, message) {
  return { file, start: 0, end: 0, code, message };
}

/** @param {Place} place @param {FileProblem} problem @returns {Finding} */
function tornTail({ storage, path }, problem) {
  const mend = async () => {
    await storage.append(join(path, problem.file), LINE_FEED, { durable: true, within: path });
    return `sealed ${problem.file} behind byte ${problem.end} with a line feed`;
  };
  return { problem, mend };
}

/**
 * @param {Place} place
 * @param {{ live: Live, core: CoreStore, home: { storage: Storage }, isVanished: boolean }} known
 * @returns {Promise<Finding[]>}
 */
async function document({ storage, path, placement }, { live, core, home, isVanished }) {
  const { file } = names()[placement];
  const at = join(path, file);
  // One that tells of what is gone is all that tells of it.
  if (isVanished || live.isEmpty) return [];
  const bytes = await storage.read(at);
  const found = bytes ? await derived(storage, at) : undefined;
  const { asOf, stats } = live.metadata;
  const isBehind = found?.stats?.messageCount !== stats.messageCount && placement === "home";
  const isOther = (found?.asOf ?? found?.as_of) !== asOf;
  if (!live.isStale && !isBehind && !isOther) return [];
  const is = !bytes ? "found none" : live.isStale ? "found something else" : "found one that is older";
  const mend = async () => {
    // What cannot be read may be somebody's work all the same.
    const copy = bytes?.length && live.isStale ? await core.run("trashedAs", `${live.id}-${file}`) : "";
    if (bytes && copy) await home.storage.replace(copy, bytes);
    await live.run("writeDocument");
    return `wrote ${file} anew from the logs${copy ? `; as it was, it lies at "${copy}"` : ""}`;
  };
  return [{ problem: problem(file, "bad_document", `expected what the logs say in "${at}", but ${is}`), mend }];
}

/** @param {Live} live @param {{ storage: Storage }} home @returns {Promise<Finding[]>} */
async function checkpoint(live, { storage }) {
  if (await live.run("hasGoodCheckpoint")) return [];
  const path = `${live.cachePath}.json`;
  const mend = async () => {
    await storage.remove(path);
    await live.run("keepCheckpoint", "true");
    return `dropped the checkpoint at "${path}"; it is made again where it is needed`;
  };
  return [{ problem: problem(basename(path), "bad_checkpoint", `expected a checkpoint of this log at "${path}", but found something else`), mend }];
}

/** @param {Live} live @returns {Promise<Finding[]>} */
async function leases(live) {
  const folder = `${live.cachePath}.open`;
  const count = await live.run("leftLeases");
  if (count === 0) return [];
  const mend = async () => {
    await live.run("takeUp", "Infinity");
    return `cleared away ${count} lease${count === 1 ? "" : "s"} of processes that are gone`;
  };
  return [{ problem: problem(basename(folder), "dead_lease", `${count} process${count === 1 ? "" : "es"} that had it open ended without closing it`), mend }];
}

/** Whether a process is gone that left something. @param {Storage} storage @param {string} path @param {number} pid */
export async function isLeft(storage, path, pid) {
  if (!isAlive(pid)) return true;
  const stat = await storage.stat(path);
  // A folder that is renamed keeps the time of its content.
  return stat !== null && nowMs() - Math.max(stat.mtimeMs, stat.ctimeMs) > DAY_MS;
}

/**
 * Mends what can be, and says what it did; of what could not, why.
 * @param {Finding[]} findings
 * @returns {Promise<{ fixed: string[], failed: FileProblem[] }>}
 */
export async function mended(findings) {
  const fixed = [];
  const failed = [];
  for (const { problem: { file, code }, mend } of findings) {
    try {
      fixed.push(await mend());
    } catch (error) {
      refuseBug(error);
      failed.push(problem(file, error.code, `could not mend it (${code}): ${error.message}`));
    }
  }
  return { fixed, failed };
}
