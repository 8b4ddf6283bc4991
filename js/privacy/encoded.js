// @ts-check
/**
 * What a text holds in another form: base64, as files come in messages, and the strings of JSON, as arguments of calls are
 * written. Each is a place in the text, what stands there in plain, and how something else is written in its stead.
 */

import { literals, valueOf } from "../json-text.js";

/** @typedef {{ start: number, end: number, text: string, key: string, encode: (text: string) => string }} Inner */

// Lines of one width, or one piece; what is shorter has no room for a secret.
const RUN = /(?:[A-Za-z0-9+/_-]{60,}\r?\n[ \t]{0,16})+[A-Za-z0-9+/_-]+={0,2}|[A-Za-z0-9+/_-]{20,}={0,2}/g;
const OTHER_SIGN = /[^A-Za-z0-9+/_=\s-]/;
/** So long a text without any other sign is a file. */
const FILE = 4096;
/** Its lines are no shorter. */
const WIDTH = 60;
/** A shorter piece counts only if it can be a text: random bytes have more controls. */
const SHORT = 1024;
const MOST_CONTROLS = 0.05;

/** Whether all of it is a file in base64, in one line or in long ones: nothing of it stands there in plain. @param {string} text */
function isFile(text) {
  return text.length > FILE && !OTHER_SIGN.test(text) && (text.match(/\s+/g) ?? []).length < text.length / WIDTH;
}

/** The base64 in a text. @param {string} text @returns {Inner[]} */
export function base64In(text) {
  if (text.length < 20) return [];
  if (isFile(text)) return decoded(text, 0, text.length);
  return Array.from(text.matchAll(RUN)).flatMap(({ index, 0: run }) => decoded(run, index, index + run.length));
}

/**
 * The strings of a text that is JSON, or was meant to be.
 * @param {string} text @param {{ all: boolean }} which `all`: else only those that say something else than stands there
 * @returns {Inner[]}
 */
export function stringsIn(text, { all }) {
  return literals(text).flatMap(({ start, end, key }) => {
    if (!all && !text.slice(start, end).includes("\\")) return [];
    return [{ start, end, text: valueOf(text, { start, end }), key, encode: JSON.stringify }];
  });
}

/** Whether a text may be JSON that has strings. @param {string} text */
export function isLikeJson(text) {
  return /^\s*[{["]/.test(text) && /[}\]"]\s*$/.test(text);
}

// A cut may have gone through a group of four.
/** @param {string} run @param {number} start @param {number} end @returns {Inner[]} */
function decoded(run, start, end) {
  let isTried = false;
  for (const skipped of [0, 1, 2, 3, 0]) {
    const bytes = Buffer.from(run.slice(skipped), "base64");
    isTried ||= skipped === 3;
    const isWide = bytes[0] === 0xff && bytes[1] === 0xfe;
    if (!isWide && !isText(bytes) && !(isTried && skipped === 0 && run.length >= SHORT)) continue;
    // As one letter a byte, so that every other byte comes back as it was.
    const coding = isWide ? "utf16le" : "latin1";
    const isOfUrls = /[-_]/.test(run);
    const encode = (/** @type {string} */ text) => {
      const plain = run.slice(0, skipped) + Buffer.from(text, coding).toString(isOfUrls ? "base64url" : "base64");
      return run.endsWith("=") || isOfUrls ? plain : plain.replace(/=+$/, "");
    };
    return [{ start, end, text: bytes.toString(coding), key: "", encode }];
  }
  return [];
}

/** @param {Uint8Array} bytes */
function isText(bytes) {
  let controls = 0;
  for (const byte of bytes) if ((byte < 32 && byte !== 9 && byte !== 10 && byte !== 13 && byte !== 27) || byte === 127) controls += 1;
  return controls <= bytes.length * MOST_CONTROLS;
}
