// @ts-check
/** Codex's rollouts that go on with others: a fork's, and that of a thread that was rewound. */

import { basename, dirname, join } from "../host/path.node.js";

import { agents } from "../wasm/agents.js";
import { unlessBug } from "../error.js";
import { isPacked, unpacked } from "./zstd.js";

/** @import { Storage } from "../storage/contract.js" */

// Where the client keeps them; archived ones lie in one folder.
const ROOTS = ["sessions", "archived_sessions"];
const DAY_MS = 86_400_000;

/**
 * A rollout behind all that it goes on with, as far as that is found: a reader says what is missing.
 * @param {Storage} storage @param {string} path @param {Uint8Array} bytes
 */
export async function withBase(storage, path, bytes) {
  if (!isRollout(path)) return bytes;
  const pieces = [bytes];
  const met = new Set([path]);
  for (let [from, first] = [path, bytes]; ; ) {
    const base = agents.called(({ rolloutBase }) => rolloutBase(first));
    const found = base && (await rolloutOf(storage, from, base));
    // One that goes on with itself has no beginning.
    if (!found || met.has(found)) return joined(pieces);
    met.add(found);
    const whole = await storage.read(found);
    if (!whole) return joined(pieces);
    const before = isPacked(whole) ? await unpacked(whole, found) : whole;
    const end = agents.called(({ rolloutPart }) => rolloutPart(first, before));
    if (end === undefined) return joined(pieces);
    pieces.unshift(before.subarray(0, end));
    [from, first] = [found, before];
  }
}

/** @param {string} path */
function isRollout(path) {
  return basename(path).startsWith("rollout-");
}

/** The file of a rollout: beside another one, on its own day, or wherever it lies. @param {Storage} storage @param {string} path @param {string} id */
async function rolloutOf(storage, path, id) {
  const is = (/** @type {string} */ name) => name.startsWith("rollout-") && [`-${id}.jsonl`, `_${id}.jsonl`, `-${id}.jsonl.zst`, `_${id}.jsonl.zst`].some((end) => name.endsWith(end));
  const home = homeOf(path);
  const roots = home === undefined ? [] : ROOTS.map((name) => join(home, name));
  const near = [dirname(path), ...roots.slice(0, 1).flatMap((root) => daysOf(id).map((day) => join(root, day)))];
  for (const folder of near) {
    const found = (await entriesOf(storage, folder)).find(({ name }) => is(name));
    if (found) return join(folder, found.name);
  }
  for (const root of roots) {
    const found = await below(storage, root, is);
    if (found) return found;
  }
  return undefined;
}

/** The folder in which the client keeps all. @param {string} path @returns {string | undefined} */
function homeOf(path) {
  const up = dirname(path);
  if (up === path) return undefined;
  return ROOTS.includes(basename(up)) ? dirname(up) : homeOf(up);
}

// The id begins with its time; which day that was depends on where.
/** @param {string} id */
function daysOf(id) {
  const ms = Number.parseInt(id.replaceAll("-", "").slice(0, 12), 16);
  if (!Number.isFinite(ms)) return [];
  return [ms, ms - DAY_MS, ms + DAY_MS].map((at) => new Date(at).toISOString().slice(0, 10).replaceAll("-", "/"));
}

/** @param {Storage} storage @param {string} folder @param {(name: string) => boolean} is @returns {Promise<string | undefined>} */
async function below(storage, folder, is) {
  for (const { name, kind } of await entriesOf(storage, folder)) {
    const path = join(folder, name);
    const found = kind === "folder" ? await below(storage, path, is) : is(name) ? path : undefined;
    if (found) return found;
  }
  return undefined;
}

/** @param {Storage} storage @param {string} folder */
async function entriesOf(storage, folder) {
  return (await storage.list(folder).catch(unlessBug)) ?? [];
}

/** @param {Uint8Array[]} pieces */
function joined(pieces) {
  if (pieces.length === 1) return /** @type {Uint8Array} */ (pieces[0]);
  const all = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const piece of pieces) {
    all.set(piece, at);
    at += piece.length;
  }
  return all;
}
