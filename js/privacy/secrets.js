// @ts-check
/** What this host knows of secrets, beside the core: the recommended rules of secretlint, which are loaded when they are needed first. */

import { LeftoffError } from "../error.js";
import { bytesOf } from "../wasm/core.js";

/** @typedef {{ start: number, end: number, rule: string }} SecretSpan UTF-16 code units */
/** @typedef {(text: string) => SecretSpan[]} SecretScan */

/** Not written where it is imported: no bundler must fail without it. */
const SECRETLINT = "@secretlint/secretlint-rule-preset-recommend";
const PREFIX = "@secretlint/secretlint-rule-";
// Whoever wrote a conversation must not decide what leaves with it: this rule obeys comments that switch others off.
const OBEYS_COMMENTS = `${PREFIX}filter-comments`;
// One rule goes by the name: tokens without a shape of their own stand in this file.
const FILE = ".npmrc";
// It takes the line to its end; in a conversation something may follow.
const WORDS = "npm";

// Between two texts that are looked at as one: the core puts that there, and no secret goes over it.
const BETWEEN = 3;
// What a text begins with counts.
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** @type {Promise<SecretScan> | undefined} */
let loading;

/** How long texts are that lie one behind the other. @param {number[]} lengths in bytes */
export function joinedLength(lengths) {
  return lengths.reduce((sum, length) => sum + length + BETWEEN, -BETWEEN);
}

/**
 * The secrets in each of some texts, in bytes; none where there is none in any.
 * @param {SecretScan} scan @param {number[]} lengths in bytes @param {Uint8Array} texts one behind the other
 */
export function findSecrets(scan, lengths, texts) {
  // Most have none, and what costs is to begin with a text.
  if (scan(decoder.decode(texts)).length === 0) return [];
  let at = 0;
  return lengths.map((length) => {
    const text = decoder.decode(texts.subarray(at, at + length));
    at += length + BETWEEN;
    const bytesTo = (/** @type {number} */ units) => bytesOf(text.slice(0, units)).length;
    return scan(text).map(({ start, end, rule }) => ({ start: bytesTo(start), end: bytesTo(end), rule }));
  });
}

/** Finds the secrets in a text that secretlint has rules for. @returns {Promise<SecretScan>} */
export function secretScan() {
  loading ??= loadScan();
  return loading;
}

/** @returns {Promise<SecretScan>} */
async function loadScan() {
  const { rules } = await /** @type {Promise<typeof import("@secretlint/secretlint-rule-preset-recommend")>} */ (import(/* webpackIgnore: true */ /* @vite-ignore */ SECRETLINT)).catch((cause) => {
    loading = undefined;
    throw new LeftoffError({ code: "missing_dependency", message: "the package @secretlint/secretlint-rule-preset-recommend, which finds secrets, could not be loaded: run 'npm install @secretlint/secretlint-rule-preset-recommend'", cause });
  });
  /** @type {SecretSpan[]} */
  let found = [];
  const handlers = rules.filter(({ meta }) => meta.id !== OBEYS_COMMENTS).map(({ meta, create }) => {
    const report = (/** @type {{ message: { data?: any }, range: readonly number[] }} */ { message, range }) => {
      const rule = meta.id.slice(PREFIX.length);
      found.push({ ...locateSecret(content, range, { data: message.data, isWord: rule === WORDS }), rule });
    };
    const createTranslator = () => (/** @type {any} */ messageId, /** @type {any} */ data) => ({ message: "", messageId: String(messageId), data });
    return create({ sharedOptions: {}, createTranslator, report, ignore: () => {} }, {});
  });
  let content = "";
  return (text) => {
    content = text;
    found = [];
    const source = /** @type {any} */ ({ filePath: FILE, content, ext: "", contentType: "text" });
    for (const { file } of handlers) file?.(source);
    return found;
  };
}

// Some rules give where a whole assignment begins, but the length of the secret that stands at its end.
/** @param {string} content @param {readonly number[]} range @param {{ data: any, isWord: boolean }} what `data`: what the message quotes */
function locateSecret(content, [start = 0, end = start], { data, isWord }) {
  const quoted = Object.values(data ?? {}).find((one) => typeof one === "string" && one.length === end - start);
  const at = quoted === undefined ? -1 : content.indexOf(quoted, start);
  if (at < 0) return { start, end };
  return { start: at, end: at + (isWord ? quoted.search(/(?<=[^"'`\s])["'`\s]|$/) : quoted.length) };
}
