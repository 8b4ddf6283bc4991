// @ts-check
/**
 * What hooks hand on: `cache/hooks/pending/` in the home has a file for each turn that is to be recorded, and beside it
 * each conversation has a folder with the lock of its recorder and what is known of it. A turn's file stays until it is
 * recorded, so that whoever comes next records what a killed process left.
 */

import { mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";

import { freeLock, namesIn, takeLock } from "./lock.js";

/**
 * A turn to be recorded: `isCounted` where a save may be offered after so many of its like.
 * @typedef {{ agent: string, path: string, project: string, event: string, isCounted: boolean }} Turn
 * @typedef {{ file: string, turn: Turn }} QueuedTurn
 *
 * What is known of a conversation once it was recorded: its session, the setting `recall`, the marks of the settings'
 * files, and whether a save was to be offered when nobody could be told.
 * @typedef {Pick<Turn, "agent" | "path" | "project"> & ConversationFacts} Knowledge
 * @typedef {{ session: string, recall: string, settings: FileMark[], isOfferDue: boolean }} ConversationFacts
 * @typedef {[path: string, mark: string]} FileMark
 */

/** The longest part of a transcript's path in a file's name. */
const MAX_KEY_CHARS = 120;
const KNOWLEDGE_FILE = "known.json";
const OWNER_ONLY = { mode: 0o600 };

/** The store's folder that hooks use. @param {string | undefined} home that was asked for */
export function homeOf(home) {
  return resolve(home || process.env.LEFTOFF_HOME || join(homedir(), ".leftoff"));
}

/** What a conversation is called in file names: two may be called the same. @param {string} path of its transcript */
export function keyOf(path) {
  return path.replace(/[^\w-]+/g, "-").slice(-MAX_KEY_CHARS);
}

/** @param {string} home */
const hooksFolder = (home) => join(home, "cache", "hooks");
/** @param {string} home */
const pendingFolder = (home) => join(hooksFolder(home), "pending");
/** The folder of a conversation's lock. @param {string} home @param {string} key */
export const lockFolder = (home, key) => join(hooksFolder(home), key);

/** Whether any conversation has turns to be recorded. @param {string} home */
export function hasPending(home) {
  try {
    return pendingNames(home).length > 0;
  } catch {
    return false; // Who may not look there records nothing there.
  }
}

/** The keys of the conversations that have turns to be recorded. @param {string} home */
export function pendingKeys(home) {
  return new Set(pendingNames(home).map((name) => name.slice(0, name.indexOf("."))));
}

/**
 * The names of a conversation's queued turns, in their order.
 * @param {string} home
 * @param {string} [key] all conversations' without
 */
export function pendingNames(home, key) {
  const isOne = (/** @type {string} */ name) =>
    name.endsWith(".json") && (key === undefined || name.startsWith(`${key}.`));
  return namesIn(pendingFolder(home)).filter(isOne).sort();
}

/** Queues a turn. @param {string} home @param {Turn} turn */
export function queueTurn(home, turn) {
  const key = keyOf(turn.path);
  const last = pendingNames(home, key).at(-1);
  const number = last === undefined ? 1 : Number(last.split(".")[1]) + 1;
  // A process number, for others may take the same place in the order.
  const name = `${key}.${String(number).padStart(9, "0")}.${process.pid}.json`;
  mkdirSync(pendingFolder(home), { recursive: true, mode: 0o700 });
  writeWhole(join(pendingFolder(home), name), turn);
}

/** @param {string} home @param {string} key @returns {QueuedTurn[]} */
export function readPending(home, key) {
  return pendingNames(home, key).flatMap((name) => {
    const file = join(pendingFolder(home), name);
    const turn = readJson(file);
    return turn ? [{ file, turn }] : [];
  });
}

/** @param {QueuedTurn[]} turns */
export function dropTurns(turns) {
  for (const { file } of turns) rmSync(file, { force: true });
}

/** Makes the folder of a conversation's lock, and takes the lock. @param {string} home @param {string} key */
export function holdConversation(home, key) {
  mkdirSync(lockFolder(home, key), { recursive: true, mode: 0o700 });
  return takeLock(lockFolder(home, key));
}

/** @param {string} home @param {string} key */
export function releaseConversation(home, key) {
  freeLock(lockFolder(home, key));
}

/** @param {string} home @param {Knowledge} known */
export function writeKnowledge(home, known) {
  writeWhole(join(lockFolder(home, keyOf(known.path)), KNOWLEDGE_FILE), known);
}

/** Forgets what is known, so that the next hook looks. @param {string} home @param {string} path */
export function dropKnowledge(home, path) {
  rmSync(join(lockFolder(home, keyOf(path)), KNOWLEDGE_FILE), { force: true });
}

/**
 * What is known of a conversation, unless settings were changed since.
 * @param {string} home @param {Pick<Turn, "agent" | "path" | "project">} asked @returns {Knowledge | undefined}
 */
export function readKnowledge(home, { agent, path, project }) {
  /** @type {Knowledge | undefined} */
  const known = readJson(join(lockFolder(home, keyOf(path)), KNOWLEDGE_FILE));
  const isSame = known?.agent === agent && known.path === path && known.project === project;
  return isSame && known.settings.every(([file, mark]) => markOf(file) === mark) ? known : undefined;
}

/**
 * The unsaved turns that were counted for a session, as the core keeps them.
 * @param {string} home
 * @param {string} id
 */
export function readReminder(home, id) {
  try {
    return readFileSync(join(home, "cache", `${id}.turns`));
  } catch {
    return undefined; // Without it nothing was counted: that is what the core takes it for, too.
  }
}

/** By what a changed file is told; empty where there is none. @param {string} path */
export function markOf(path) {
  const stat = statSync(path, { throwIfNoEntry: false, bigint: true });
  return stat ? [stat.ino, stat.size, stat.mtimeNs, stat.ctimeNs].join() : "";
}

/** @param {string} path @returns {any} */
function readJson(path) {
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch {
    return undefined; // Absent, or recorded by another process meanwhile: files here are renamed to their names whole.
  }
}

/** @param {string} path @param {object} value */
function writeWhole(path, value) {
  const made = `${path}.${process.pid}.tmp`;
  writeFileSync(made, JSON.stringify(value), OWNER_ONLY);
  renameSync(made, path);
}
