// @ts-check
/** What is wrong with a session: all of it is read, and nothing is mended. */

import { called, fromBytes } from "./core.js";
import { derived } from "./derived.js";
import { missingBlobs } from "./messages.js";

/** @import { Session as Handle } from "../pkg/leftoff.js" */
/** @import { Log, Problem } from "./log.js" */
/** @import { Storage } from "./storage/contract.js" */
/** @typedef {Problem & { file: string }} Placed */
/** @typedef {{ health: "ok" | "damaged" | "unreadable", problems: Placed[] }} Examined */

/**
 * @param {Handle} handle of which nothing is observed
 * @param {{ storage: Storage, folder: string, events: Log, messages: Log }} where
 * @returns {Promise<Examined>}
 */
export async function examine(handle, { storage, folder, events, messages }) {
  /** @type {Placed[]} */
  const problems = [];
  for (const log of [events, messages]) {
    const found = [...(await log.observe(handle)), ...log.observeTail(handle)];
    problems.push(...found.map((problem) => ({ file: log.file, ...problem })));
  }
  const health = called(() => handle.health());
  // Where something is damaged, that says already why there is less.
  if (problems.length === 0) problems.push(...(await vanished(handle, { storage, folder, events, messages })));
  // What it knows of a long log is large.
  handle.free();
  const blobs = await missingBlobs({ storage, folder, log: messages });
  problems.push(...blobs.map((problem) => ({ file: messages.file, ...problem })));
  const isWorse = problems.some(({ code }) => code === "vanished" || code === "missing_blob");
  return { health: health === "ok" && isWorse ? "damaged" : health, problems };
}

/**
 * What the derived document tells of, and the logs do not: they were cut, emptied or removed.
 * @param {Handle} handle
 * @param {{ storage: Storage, folder: string, events: Log, messages: Log }} where
 * @returns {Promise<Placed[]>}
 */
async function vanished(handle, { storage, folder, events, messages }) {
  const document = await derived(storage, `${folder}/metadata.json`);
  const known = fromBytes(called(() => handle.metadata()));
  const problems = [];
  const [was, is] = [document?.stats?.messageCount, known.stats.messageCount];
  if (was > is) problems.push(await atEnd(messages, `expected ${was} messages, as metadata.json says, but found ${is} instead`));
  if (document?.asOf && !known.asOf) problems.push(await atEnd(events, "expected the events that metadata.json was written from, but found none"));
  return problems;
}

/** @param {Log} log @param {string} message @returns {Promise<Placed>} */
async function atEnd(log, message) {
  const end = await log.size();
  return { file: log.file, code: "vanished", start: end, end, message };
}
