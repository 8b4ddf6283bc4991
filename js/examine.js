// @ts-check
/** What is wrong with a session: all of it is read, and nothing is mended. */

import { join } from "node:path";

import { called, fromBytes, lent } from "./core.js";
import { derived } from "./derived.js";
import { Log } from "./log.js";
import { missingBlobs } from "./messages.js";
import { names } from "./placement.js";

/** @import { Session as Handle } from "../pkg/leftoff.js" */
/** @import { Place } from "./placement.js" */
/** @import { Examined, FileProblem } from "./types/index.js" */
/**
 * @param {Place} place
 * @param {string} id
 * @returns {Promise<Examined>}
 */
export async function examine(place, id) {
  const { storage, path: folder } = place;
  const log = (/** @type {"Events" | "Messages" | "Tools"} */ name) => new Log({ storage, folder, name });
  const [events, messages, tools] = [log("Events"), log("Messages"), log("Tools")];
  /** @type {FileProblem[]} */
  const problems = [];
  let health;
  const { handle, free } = lent((core) => new core.Session(id));
  try {
    for (const log of [events, messages, tools]) {
      const found = [...(await log.observe(handle)), ...log.observeTail(handle)];
      problems.push(...found.map((problem) => ({ file: log.file, ...problem })));
    }
    health = called(() => handle.health());
    // Where something is damaged, that says already why there is less.
    if (problems.length === 0) problems.push(...(await vanished(handle, place, { events, messages })));
  } finally {
    free();
  }
  const blobs = await missingBlobs({ storage, folder, log: messages });
  problems.push(...blobs.map((problem) => ({ file: messages.file, ...problem })));
  const isWorse = problems.some(({ code }) => code === "vanished" || code === "missing_blob");
  return { health: health === "ok" && isWorse ? "damaged" : health, problems };
}

/**
 * What the derived document tells of, and the logs do not: they were cut, emptied or removed.
 * @param {Handle} handle
 * @param {Place} place
 * @param {{ events: Log, messages: Log }} logs
 * @returns {Promise<FileProblem[]>}
 */
async function vanished(handle, { storage, path, placement }, { events, messages }) {
  const { file } = names()[placement];
  const document = await derived(storage, join(path, file));
  const known = fromBytes(called(() => handle.metadata()));
  const problems = [];
  const was = document?.stats?.messageCount ?? document?.message_count;
  const is = known.stats.messageCount;
  if (was > is) problems.push(await atEnd(messages, `expected ${was} messages, as ${file} says, but found ${is} instead`));
  const asOf = document?.asOf ?? document?.as_of;
  if (asOf && !known.asOf) problems.push(await atEnd(events, `expected the events that ${file} was written from, but found none`));
  return problems;
}

/** @param {Log} log @param {string} message @returns {Promise<FileProblem>} */
async function atEnd(log, message) {
  const end = await log.size();
  return { file: log.file, code: "vanished", start: end, end, message };
}
