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
 * What all of the log tells: it is the checkpoint that is made of it. The conversation may have been folded less far than the
 * log was read; so what was learned is compared with what the log tells up to there.
 * @param {Log} log @param {Uint8Array} json @param {string} id of the session
 */
export async function isMadeOf(log, json, id) {
  /** @type {Checkpoint} */
  const said = fromBytes(json);
  const { learned, ...rest } = said;
  const read = await madeOf(log, id, said.bytes);
  const folded = learned.bytes === said.bytes ? read : await madeOf(log, id, learned.bytes);
  if (!read || !folded) return false;
  return comparable({ ...read, learned: folded.learned }) === comparable({ ...rest, learned });
}

/** The checkpoint of a log up to a byte, all of it folded. @param {Log} log @param {string} id @param {number} bytes @returns {Promise<Checkpoint | undefined>} */
async function madeOf(log, id, bytes) {
  const { handle, free } = lent((core) => new core.Session(id));
  try {
    await observe(log, handle, { start: 0, end: bytes });
    for (let span; (span = called(() => handle.unlearned())); ) {
      const [start = 0, end = 0] = span;
      for await (const piece of log.pieces(start, end)) called(() => handle.learn(piece));
    }
    const made = called(() => handle.checkpoint());
    return made && fromBytes(made);
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
  return JSON.stringify(Object.entries(checkpoint).filter(([key]) => !NOT_COMPARED.includes(key)).sort(([a], [b]) => (a < b ? -1 : 1)));
}
