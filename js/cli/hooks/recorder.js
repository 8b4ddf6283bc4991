// @ts-check
/**
 * Records what hooks have queued: in a process of its own, which nobody waits for, or in the next command that looks at
 * the store, if that process was killed.
 */

import { statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { setTimeout } from "node:timers/promises";

import { forgetFailure, keepFailure } from "../../agents/failures.js";
import { bytesOf, textOf } from "../../wasm/core.js";
import { ticksMs } from "../../wasm/clock.js";
import { LeftoffError, unlessBug } from "../../error.js";
import { NodeStorage, openStore } from "../../index.js";
import { isFolder } from "../../storage/real-path.js";
import { fromSystemError } from "../../storage/system-errors.js";
import { recordConversation } from "../in-agent.js";
import { escapeControls } from "../print.js";
import { isPrompt, projectOf } from "./input.js";
import { findHolder } from "./lock.js";
import {
  dropKnowledge,
  dropTurns,
  holdConversation,
  lockFolder,
  markOf,
  pendingKeys,
  pendingNames,
  readKnowledge,
  readPending,
  releaseConversation,
  writeKnowledge,
} from "./queue.js";

/** @import { QueuedTurn, Turn } from "./queue.js" */
/** @typedef {import("../../session/session.js").Session} Session */
/** @typedef {import("../../store/store.js").Store} Store */

/** The longest wait for another process that records: what it has not recorded by then is recorded beside it. */
const MAX_WAIT_MS = 10_000;
const LOOK_AGAIN_MS = 5;
/**
 * What a queued turn is counted by. The hook has seen what was typed; a command of the client's asks for nothing to be
 * recalled.
 */
const COUNTED_PROMPT = "/";

/** Records a conversation's queued turns, unless another process does. @param {string} home @param {string} key */
export async function recordQueued(home, key) {
  // Those that were queued while this process was about to end found the lock held: they are looked for once more.
  while (pendingNames(home, key).length > 0) {
    if (!isMine(home, key) && !holdConversation(home, key)) return;
    let isRecorded = false;
    try {
      isRecorded = await recordPending(home, key);
    } finally {
      releaseConversation(home, key);
    }
    // The home fails: the next hook meets that, and tells it.
    if (!isRecorded) return;
  }
}

// Whoever started this process may have taken the lock in its name.
/** @param {string} home @param {string} key */
const isMine = (home, key) => findHolder(lockFolder(home, key))?.pid === process.pid;

/**
 * Records what is queued in a store, or waits while another process does: a command shows what hooks have handed on.
 * @param {string} home
 * @param {{ readOnly?: boolean }} [as] `readOnly`: only waits
 */
export async function settleRecordings(home, { readOnly = false } = {}) {
  for (const key of pendingKeys(home)) {
    const start = ticksMs();
    while (pendingNames(home, key).length > 0 && ticksMs() - start < MAX_WAIT_MS) {
      if (!findHolder(lockFolder(home, key))) {
        // Who may not write there sees what is recorded.
        if (!readOnly) await recordQueued(home, key).catch((error) => unlessBug(fromSystemError(error)));
        break;
      }
      await setTimeout(LOOK_AGAIN_MS);
    }
  }
}

/**
 * Holds a conversation while a hook records it itself, after what is queued.
 * @template T
 * @param {string} home
 * @param {{ key: string, goesOn: boolean }} conversation `goesOn`: by a prompt
 * @param {() => Promise<T>} work
 */
export async function recordAlone(home, { key, goesOn }, work) {
  const isHeld = await waitForConversation(home, key);
  try {
    if (isHeld) await recordPending(home, key, { goesOn });
    return await work();
  } finally {
    if (isHeld) releaseConversation(home, key);
  }
}

/** @param {string} home @param {string} key @returns {Promise<boolean>} whether it is held */
async function waitForConversation(home, key) {
  const start = ticksMs();
  try {
    while (!holdConversation(home, key)) {
      if (ticksMs() - start > MAX_WAIT_MS) return false;
      await setTimeout(LOOK_AGAIN_MS);
    }
    return true;
  } catch {
    return false; // The home cannot be written: recording finds that, too, and says so.
  }
}

/**
 * @param {string} home
 * @param {string} key
 * @param {{ goesOn?: boolean }} [as] whether a prompt follows that is not queued
 * @returns {Promise<boolean>} whether nothing of it is queued any longer
 */
async function recordPending(home, key, { goesOn = false } = {}) {
  const turns = readPending(home, key);
  for (let start = 0, end = 1; start < turns.length; start = end, end += 1) {
    // A client's file has what came before a later turn: it is read once for many.
    while (end < turns.length && isOfSameFile(turns[start], turns[end])) end += 1;
    const group = turns.slice(start, end);
    if (!(await recordTurns(home, group, { goesOn }))) return false;
    dropTurns(group);
  }
  return true;
}

/** @param {QueuedTurn | undefined} one @param {QueuedTurn | undefined} other */
function isOfSameFile(one, other) {
  const [first, second] = [one, other].map((queued) => [queued?.turn.agent, queued?.turn.path, queued?.turn.project]);
  return String(first) === String(second);
}

// Whether the client was closed, and nothing was typed since.
/** @param {QueuedTurn[]} turns */
function isEnded(turns) {
  const last = (/** @type {(event: string) => boolean} */ is) => turns.findLastIndex(({ turn }) => is(turn.event));
  return last((event) => event === "SessionEnd") > last((event) => isPrompt({ hook_event_name: event }));
}

/**
 * @param {string} home
 * @param {QueuedTurn[]} turns
 * @param {{ goesOn: boolean }} as
 * @returns {Promise<boolean>} whether they are done with
 */
async function recordTurns(home, turns, { goesOn }) {
  const { turn: last } = /** @type {QueuedTurn} */ (turns.at(-1));
  const { agent, path, project, event } = last;
  const settings = settingsMarks({ home, project });
  try {
    await withRecordingStore({ home, project }, async (store) => {
      const session = await recordNow(store, { agent, path });
      if (!session) return dropKnowledge(home, path);
      let isOfferDue = readKnowledge(home, last)?.isOfferDue ?? false;
      for (const { turn } of turns)
        if (turn.isCounted)
          isOfferDue =
            (await store.turn(path, { prompt: COUNTED_PROMPT, session: session.id })).offersSave || isOfferDue;
      if (isEnded(turns) && !goesOn) await endSession(session);
      rememberRecording(store, { turn: last, session, settings, isOfferDue });
    });
    forgetFailure(home, last);
    return true;
  } catch (error) {
    const isLogged = await logFailure({ agent, home }, { event, cwd: project }, error);
    if (isLogged) dropKnowledge(home, path);
    return isLogged;
  }
}

/**
 * Opens the store that a client's conversation is recorded in.
 * @template T
 * @param {{ home: string | undefined, project: string }} at
 * @param {(store: Store) => Promise<T>} work
 */
export async function withRecordingStore({ home, project }, work) {
  const store = await openStore({ home, project: existingFolder(project) });
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

/**
 * Records a conversation up to now, if it is to be and there is any.
 * @param {Store} store
 * @param {{ agent: string, path: string }} at
 */
export async function recordNow(store, { agent, path }) {
  const [unclear] = store.problems;
  if (unclear && !store.settings.record) throw new LeftoffError({ ...unclear });
  return store.settings.record && hasContent(path) ? recordConversation(store, { agent, path }) : undefined;
}

/** @param {Session} session */
export async function endSession(session) {
  if (session.metadata.lifecycle === "active") await session.stop();
}

/**
 * Marks of the settings' files, taken before a store reads them.
 * @param {{ home: string, project: string }} at
 * @returns {[string, string][]}
 */
export function settingsMarks({ home, project }) {
  const files = [join(home, "settings.json"), join(existingFolder(project), ".leftoff", "settings.json")];
  return files.map((path) => [path, markOf(path)]);
}

/**
 * Remembers what the next hook of a conversation need not find out.
 * @param {Store} store
 * @param {{ turn: Turn, session: Session, settings: [string, string][], isOfferDue: boolean }} recorded
 */
export function rememberRecording(store, { turn: { agent, path, project }, session, settings, isOfferDue }) {
  const { recall } = store.settings;
  try {
    writeKnowledge(store.home, { agent, path, project, session: session.id, recall, settings, isOfferDue });
  } catch {
    // Without it the next hook finds out again.
  }
}

/**
 * A folder, or the nearest one above it that exists: an agent may have removed the one it works in.
 * @param {string} path
 */
export function existingFolder(path) {
  let folder = resolve(path);
  while (!isFolder(folder) && folder !== dirname(folder)) folder = dirname(folder);
  return folder;
}

// Whether there is a record: before the first turn there may be none.
/** @param {string} path */
export function hasContent(path) {
  return (statSync(path, { throwIfNoEntry: false })?.size ?? 0) > 0;
}

/**
 * Logs a failure; answers whether that worked.
 * @param {{ agent: string, home?: string }} by
 * @param {{ event?: string, cwd?: string }} input
 * @param {any} error
 */
export async function logFailure({ agent, home: folder }, { event = "?", cwd }, error) {
  const storage = new NodeStorage();
  try {
    const store = await openStore({ home: folder, project: existingFolder(cwd ?? "") });
    const path = join(store.home, "hooks.log");
    const failure = {
      agent,
      event,
      code: error?.code ?? error?.name ?? "error",
      message: String(error?.message ?? error),
    };
    // Names and texts come from others: as JSON none of them begins a line, and what steers a terminal is escaped.
    const { value } = await store.redacted(failure).finally(() => store.close());
    keepFailure(store.home, { ...value, project: projectOf(cwd ?? "") });
    const line = `${escapeControls(JSON.stringify(value))}\n`;
    const known = await storage.read(path);
    if (known && `\n${textOf(known)}`.includes(`\n${line}`)) return true;
    await storage.append(path, bytesOf(line));
    return true;
  } catch {
    return false; // The home itself fails: the user is told in another way.
  } finally {
    await storage.close();
  }
}
