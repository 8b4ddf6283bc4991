// @ts-check
/** What could not be read of a session's files: where it stood, its bytes, and what is missing for it. */

/** @import { FileProblem, ImportProblem, ReadMessage, Session, Store } from "../index.js" */

/**
 * @typedef {Pick<FileProblem, "file" | "code" | "message"> & { start?: number, end?: number, bytes?: Uint8Array,
 *   after?: string, missing?: number }} Damage
 *   `after`: the id of the message that it stood behind, "" before the first; none where that is not known; `missing`:
 *   messages
 */
/**
 * @typedef {ImportProblem & { sessions: string[], read: (start: number, end: number) => Promise<Uint8Array | null> }} FileDamage
 *   `sessions`: the ids of those that are from the file; `read`: reads it
 */
/** @typedef {{ bytes: Uint8Array, record: { id?: unknown, seq?: unknown } | undefined }} Piece of a file */

const MESSAGES = "messages.jsonl";
/** How much of an imported file is looked through for the message before. */
const BEFORE_BYTES = 1 << 18;
/** Of more, the others are listed alone. */
const MAX_LOCATED = 500;

/** Which problems took a record away. */
const LOSING_CODES = /^(damaged|foreign|invalid_utf8|line_too_long|nul_run|too_deep|torn_tail)$/;
/** @type {Record<string, string>} */
const LOSS_WORDS = {
  bad_value: "The record is read without that value.",
  bom: "Nothing is missing for it.",
  checksum: "The record is shown as it stands, though its checksum says that it was changed.",
  conflict_marker: "What both sides of the merge have is shown.",
  duplicate_id: "Both records are shown.",
  glued_lines: "Each record of the line is shown that is whole.",
  missing_blob: "What lay in a file of its own is not shown.",
  missing_parent: "The message before it is not in the log.",
};

/** What is missing for a damage, in a sentence. @param {Damage} damage */
export function describeLoss({ code, missing = 0 }) {
  if (missing > 0) return missing === 1 ? "One message is missing here." : `${missing} messages are missing here.`;
  return LOSS_WORDS[code] ?? "What it was is not known; what stands before and after is complete.";
}

/**
 * Finds all damage of a session's own files. Its bytes and its place are those in the session as one file, unless secrets
 * were replaced there.
 * @param {Store} store @param {Session} session @param {readonly ReadMessage[]} messages of all branches
 * @returns {Promise<Damage[]>}
 */
export async function findDamage(store, session, messages) {
  const { problems } = await session.examine();
  if (problems.every(({ file }) => file !== MESSAGES)) return problems;
  const { files } = await store.info(session);
  return locateIn(await session.export("leftoff"), problems, {
    size: files.find(({ file }) => file === MESSAGES)?.bytes,
    messages,
  });
}

/**
 * @param {string} text a session as one file @param {readonly FileProblem[]} problems
 * @param {{ size: number | undefined, messages: readonly ReadMessage[] }} known `size`: of the log, in bytes
 * @returns {Damage[]}
 */
export function locateIn(text, problems, { size, messages }) {
  const pieces = piecesOf(text);
  const ids = new Set(messages.map(({ id }) => id));
  if (pieces.reduce((sum, { bytes }) => sum + bytes.length, 0) !== size) return [...problems];
  return problems.map((problem, place) => {
    if (problem.file !== MESSAGES || place >= MAX_LOCATED) return problem;
    const { start, end } = problem;
    const around = aroundOf(pieces, start, end, ids);
    const bytes = join(around.touched).subarray(start - around.from, end - around.from);
    return {
      ...problem,
      bytes,
      after: around.before?.id ?? "",
      missing: LOSING_CODES.test(problem.code) ? gapOf(around) : 0,
    };
  });
}

/** @param {Piece[]} pieces */
function join(pieces) {
  const all = new Uint8Array(pieces.reduce((sum, { bytes }) => sum + bytes.length, 0));
  let place = 0;
  for (const { bytes } of pieces) {
    all.set(bytes, place);
    place += bytes.length;
  }
  return all;
}

/** The log of messages in a session as one file. @param {string} text @returns {Piece[]} */
function piecesOf(text) {
  const encoder = new TextEncoder();
  return text
    .split("\n")
    .filter((line) => line.startsWith(`{"file":"${MESSAGES}"`))
    .map((line) => {
      const piece = JSON.parse(line);
      // A line stands for its exact text, which `JSON.parse` does not keep.
      if (piece.line)
        return { bytes: encoder.encode(`${line.slice(line.indexOf('"line":') + 7, -1)}\n`), record: piece.line };
      if (piece.text !== undefined) return { bytes: encoder.encode(piece.text), record: recordIn(piece.text) };
      return { bytes: Uint8Array.from(atob(piece.bytes), (sign) => sign.charCodeAt(0)), record: undefined };
    });
}

/** @param {string} text */
function recordIn(text) {
  try {
    const record = JSON.parse(text);
    return record && typeof record === "object" ? record : undefined;
  } catch {
    return undefined;
  }
}

/**
 * The pieces that some bytes touch, and the messages before and after them.
 * @param {Piece[]} pieces @param {number} start @param {number} end @param {Set<string>} ids of messages
 */
function aroundOf(pieces, start, end, ids) {
  const found = {
    from: 0,
    touched: /** @type {Piece[]} */ ([]),
    before: /** @type {any} */ (undefined),
    after: /** @type {any} */ (undefined),
  };
  let place = 0;
  for (const piece of pieces) {
    const next = place + piece.bytes.length;
    const isMessage = ids.has(String(piece.record?.id));
    if (next <= start && isMessage) found.before = piece.record;
    if (place >= end && isMessage) found.after ??= piece.record;
    if (next > start && place < end) found.touched.push(piece);
    if (next <= start) found.from = next;
    place = next;
  }
  return found;
}

/**
 * How many messages are missing between two, as they are numbered.
 * @param {{ before?: Piece["record"], after?: Piece["record"] }} around
 */
function gapOf({ before, after }) {
  if (typeof after?.seq !== "number") return 0;
  const from = before === undefined ? -1 : before.seq;
  return typeof from === "number" ? Math.max(after.seq - from - 1, 0) : 0;
}

/**
 * Finds the places of what could not be read of imported files: behind the last message that the file names before.
 * @param {readonly FileDamage[]} problems of one file @param {readonly ReadMessage[]} messages of all branches
 * @returns {Promise<Damage[]>}
 */
export async function locateImported(problems, messages) {
  const ids = new Map(messages.flatMap(({ id, source }) => (source ? [[source.id, id]] : [])));
  const found = [];
  for (const { path, code, message, start, end, read } of problems) {
    const damage = { file: path, code, message, start, end };
    if (start === undefined || end === undefined || found.length >= MAX_LOCATED) found.push(damage);
    else {
      const before = await read(Math.max(start - BEFORE_BYTES, 0), start);
      const after = byOffset(messages, start) ?? byNames(new TextDecoder().decode(before ?? undefined), ids);
      found.push({ ...damage, after, bytes: (await read(start, end)) ?? undefined });
    }
  }
  return found;
}

/**
 * Of files whose records have no ids, messages are named by their bytes' offset.
 * @param {readonly ReadMessage[]} messages @param {number} start
 */
const byOffset = (messages, start) =>
  messages.findLast(({ source }) => /^byte-\d+$/.test(source?.id ?? "") && Number(source?.id.slice(5)) < start)?.id;

/** The message whose record's id is the last one in a text. @param {string} text @param {Map<string, string>} ids */
function byNames(text, ids) {
  for (const line of text.split("\n").reverse())
    for (const [, name] of line.matchAll(/"([^"\\]{1,200})"/g)) if (ids.has(name)) return ids.get(name);
  return undefined;
}

/** Bytes as a dump: their offset, sixteen in a row, and as letters. @param {Uint8Array} bytes @param {number} start */
export function formatHex(bytes, start) {
  const rows = [];
  for (let place = 0; place < bytes.length; place += 16) {
    const row = [...bytes.subarray(place, place + 16)];
    const hex = row.map((byte) => byte.toString(16).padStart(2, "0")).join(" ");
    const letters = row.map((byte) => (byte > 31 && byte < 127 ? String.fromCharCode(byte) : "·")).join("");
    rows.push(`${String(start + place).padStart(6)}  ${hex.padEnd(47)}  ${letters}`);
  }
  return rows.join("\n");
}
