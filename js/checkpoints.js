// @ts-check
/**
 * Whether a checkpoint is of the log that it lies beside. Its checksum says that it is as somebody wrote it, not who that
 * was: what it says is compared with what the log says.
 */

import { called, fromBytes, lent } from "./core.js";

/** @import { Session as Handle } from "../pkg/leftoff.js" */
/** @import { Log } from "./log.js" */
/** @typedef {{ start: number, end: number }} Span */

/**
 * What it says, as far as it is looked at here.
 * @typedef {object} Checkpoint
 * @property {number} bytes
 * @property {Span} lastLine
 * @property {string | null} lastId
 * @property {Span[]} systems
 * @property {{ id: string, span: Span }[]} pins
 * @property {Span | null} newestUser
 * @property {Span[]} [repeated] lines that say again what was said before
 * @property {{ bytes: number }} learned
 */

/** What events decide, what a log with damage tells at another place, and the seal. */
const NOT_COMPARED = ["pins", "problems", "crc"];

/**
 * What a few lines tell: those that it names are there, and are what it takes them for.
 * @param {Log} log @param {Uint8Array} json
 */
export async function isOfLog(log, json) {
  /** @type {Checkpoint} */
  const { bytes, lastLine, lastId, systems, pins, newestUser, repeated = [] } = fromBytes(json);
  const line = await log.range(lastLine.start, lastLine.end);
  if (bytes > (await log.size()) || !called((core) => core.checkpointMatches(json, line))) return false;
  const isThere = async (/** @type {Span} */ { start, end }, /** @type {(message: any) => boolean} */ isIt) => {
    if (!(start >= 0 && start < end && end <= bytes)) return false;
    const { messages } = fromBytes(await scanned(log, { start, end }));
    return messages.length === 1 && isIt(messages[0]);
  };
  // A revision, and a line that says again what was said before, are no last message.
  const isNoOther = (/** @type {Span} */ { start, end }) => start <= lastLine.start && lastLine.end <= end;
  const isLast = (/** @type {{ id: string, rev?: number }} */ { id, rev = 0 }) => id === lastId || rev > 0 || repeated.some(isNoOther);
  if (bytes > 0 && !(await isThere(lastLine, isLast))) return false;
  if (newestUser && !(await isThere(newestUser, ({ role }) => role === "user"))) return false;
  for (const span of systems) if (!(await isThere(span, ({ role }) => role === "system"))) return false;
  for (const { id, span } of pins) if (!(await isThere(span, (message) => message.id === id))) return false;
  return true;
}

/** @param {Log} log @param {Span} span */
async function scanned(log, { start, end }) {
  const line = await log.range(start, end);
  return called((core) => core.scanLog(line));
}

/**
 * What all of the log tells: it is the checkpoint that is made of it.
 * @param {Log} log @param {Uint8Array} json @param {string} id of the session
 */
export async function isMadeOf(log, json, id) {
  /** @type {Checkpoint} */
  const said = fromBytes(json);
  const { handle, free } = lent((core) => new core.Session(id));
  try {
    // It may have been folded less far than it was read.
    await observe(log, handle, { start: 0, end: said.learned.bytes });
    for (let span; (span = called(() => handle.unlearned())); ) {
      const [start = 0, end = 0] = span;
      for await (const piece of log.pieces(start, end)) called(() => handle.learn(piece));
    }
    await observe(log, handle, { start: said.learned.bytes, end: said.bytes });
    const made = called(() => handle.checkpoint());
    return made !== undefined && comparable(fromBytes(made)) === comparable(said);
  } finally {
    free();
  }
}

/** @param {Log} log @param {Handle} handle @param {Span} span */
async function observe(log, handle, { start, end }) {
  let at = start;
  for await (const piece of log.pieces(start, end)) {
    const from = at;
    called((core) => handle.observe(core.LogName.Messages, piece, from));
    at += piece.length;
  }
}

/** @param {object} checkpoint */
function comparable(checkpoint) {
  return JSON.stringify(Object.entries(checkpoint).filter(([key]) => !NOT_COMPARED.includes(key)));
}
