// @ts-check
/** `leftoff append`: stores each message from standard input and prints its id before it reads the next one. */

import { LINE_FEED, joinBytes } from "../storage/bytes.js";
import { LeftoffError } from "../index.js";
import { findParseLoss } from "../compat/json-text.js";
import { note, print } from "./print.js";
import { findSession, withStore } from "./store.js";

/** @typedef {Record<string, any>} Args */
/** @typedef {{ number: number, bytes: Uint8Array }} InputLine without its line feed */

/** The longest line, in bytes: no text can be made of a longer one, which would be read for long and then refused. */
const MAX_LINE_BYTES = 256 * 1024 * 1024;
const BYTE_ORDER_MARK = "\ufeff";
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** @param {Args} args */
export async function append(args) {
  return withStore(args, async (store) => {
    const session = await findSession(store, args);
    if (process.stdin.isTTY) note("reading messages from the keyboard, one JSON object per line; Ctrl+D ends");
    const tell = async (/** @type {{ id: string }[]} */ records) => {
      const { value } = await store.redacted(records.map(({ id }) => ({ id })));
      // Printed at once: if this process is killed now, the reader still knows what need not be sent again.
      for (const one of value) print(`${args.json ? JSON.stringify(one) : one.id}\n`, { isSafe: args.json });
    };
    const { operation, expected } = args;
    const isOne = operation !== undefined || expected !== undefined;
    /** @type {Record<string, unknown>[]} */
    const all = [];
    for await (const line of readLines(process.stdin)) {
      const draft = parseDraft(line, isOne ? NOTHING_STORED : STORED_SO_FAR);
      if (draft === undefined) continue;
      if (isOne) all.push(draft);
      else await tell((await session.append(draft).catch((error) => rethrowWithLine(line, error))).records);
    }
    if (isOne)
      await tell((await session.append(all, { operation, expected: expected === "none" ? null : expected })).records);
    return { text: "", value: undefined };
  });
}

/**
 * Yields each line as soon as it is whole, wherever it was cut on its way; the last one, too, if no line feed ends it.
 * @param {AsyncIterable<Uint8Array>} input
 * @returns {AsyncGenerator<InputLine>}
 */
export async function* readLines(input) {
  let number = 1;
  let length = 0;
  /** @type {Uint8Array[]} */
  let parts = [];
  const take = (/** @type {Uint8Array} */ part) => {
    length += part.length;
    if (length > MAX_LINE_BYTES) throw lineError(number, `expected at most ${MAX_LINE_BYTES} bytes, but found more`);
    parts.push(part);
  };
  for await (const chunk of input) {
    let from = 0;
    for (let end = chunk.indexOf(LINE_FEED[0] ?? 0); end >= 0; end = chunk.indexOf(LINE_FEED[0] ?? 0, from)) {
      take(chunk.subarray(from, end));
      yield { number, bytes: joinBytes(parts) };
      [number, length, parts] = [number + 1, 0, []];
      from = end + 1;
    }
    take(chunk.subarray(from));
  }
  yield { number, bytes: joinBytes(parts) };
}

/**
 * Parses a line; nothing where it is empty.
 * @param {InputLine} line
 * @param {string} rest what is stored, for an error
 */
function parseDraft({ number, bytes }, rest) {
  const text = decodeLine(number, bytes, rest);
  if (!text.trim()) return undefined;
  const draft = parseLine(number, text, rest);
  const other = findParseLoss(text);
  if (other) throw lineError(number, `expected a message that is read as it is written, but found ${other}`, { rest });
  if (typeof draft === "object" && draft !== null && !Array.isArray(draft)) return draft;
  throw lineError(
    number,
    `expected a message, an object of JSON, but found ${Array.isArray(draft) ? "an array" : JSON.stringify(draft).slice(0, 40)} instead`,
    { rest },
  );
}

/** @param {number} number @param {Uint8Array} bytes @param {string} rest */
function decodeLine(number, bytes, rest) {
  try {
    const text = decoder.decode(bytes);
    return number === 1 && text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text;
  } catch (cause) {
    throw lineError(number, "expected UTF-8, but found other bytes instead", { rest, cause });
  }
}

/** @param {number} number @param {string} text @param {string} rest @returns {any} */
function parseLine(number, text, rest) {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw lineError(number, "expected a message as JSON, but found something else instead", { rest, cause });
  }
}

/** @param {number} number @param {string} message @param {{ rest?: string, cause?: unknown }} [why] */
function lineError(number, message, { rest = STORED_SO_FAR, cause } = {}) {
  return new LeftoffError({ code: "usage", message: `line ${number}: ${message}; ${rest}`, cause });
}

const STORED_SO_FAR = "only the lines whose ids were printed are stored";
/** An error's ending where all lines are one append. */
const NOTHING_STORED = "nothing was stored";

/** @param {InputLine} line @param {unknown} error @returns {never} */
function rethrowWithLine({ number }, error) {
  if (!(error instanceof LeftoffError)) throw error;
  // Bytes that the disk has not confirmed may be stored all the same.
  const rest = error.written ? "the lines whose ids were printed are stored, this one may be" : STORED_SO_FAR;
  error.message = `line ${number}: ${error.message.replace(/^message 0: /, "")}; ${rest}`;
  throw error;
}
