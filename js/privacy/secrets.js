// @ts-check
/** The host's own finder of secrets, beside the core's: secretlint's recommended rules, loaded when first needed. */

import { LeftoffError } from "../error.js";
import { loadSecretRules } from "../host/packages.node.js";
import { bytesOf } from "../wasm/core.js";

/** @typedef {{ start: number, end: number, rule: string }} SecretSpan UTF-16 code units */
/** @typedef {(text: string) => SecretSpan[]} SecretScan */

const RULE_PREFIX = "@secretlint/secretlint-rule-";
// Left out, since it obeys comments that switch other rules off: the author of a conversation must not decide what
// leaves with it.
const COMMENTS_RULE = `${RULE_PREFIX}filter-comments`;
// The file name given to the rules: one finds tokens without a shape of their own only in a file of this name.
const NPMRC_FILE = ".npmrc";
// This rule takes a line to its end; in a conversation something may follow the secret.
const NPM_CUE = "npm";

// The bytes that the core puts between two texts to scan them as one; no secret spans them.
const SEPARATOR_BYTES = 3;
// A byte order mark at the beginning counts as text.
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** @type {Promise<SecretScan> | undefined} */
let loading;

/** The length of texts that lie one behind the other. @param {number[]} lengths in bytes */
export function joinedLength(lengths) {
  return lengths.reduce((sum, length) => sum + length + SEPARATOR_BYTES, -SEPARATOR_BYTES);
}

/**
 * Finds the secrets in each of some texts, as byte ranges; an empty array where no text has any.
 * @param {SecretScan} scan @param {number[]} lengths in bytes @param {Uint8Array} texts one behind the other
 */
export function findSecrets(scan, lengths, texts) {
  // Scans all as one first: most texts have none, and each scan's beginning is what costs.
  if (scan(decoder.decode(texts)).length === 0) return [];
  let at = 0;
  return lengths.map((length) => {
    const text = decoder.decode(texts.subarray(at, at + length));
    at += length + SEPARATOR_BYTES;
    const bytesTo = (/** @type {number} */ units) => bytesOf(text.slice(0, units)).length;
    return scan(text).map(({ start, end, rule }) => ({ start: bytesTo(start), end: bytesTo(end), rule }));
  });
}

/** Loads, once, the function that finds a text's secrets by secretlint's rules. @returns {Promise<SecretScan>} */
export function secretScan() {
  loading ??= loadScan();
  return loading;
}

/** @returns {Promise<SecretScan>} */
async function loadScan() {
  const { rules } = await loadSecretRules().catch((cause) => {
    loading = undefined;
    throw new LeftoffError({
      code: "missing_dependency",
      message:
        "the package @secretlint/secretlint-rule-preset-recommend, which finds secrets, could not be loaded: run 'npm install @secretlint/secretlint-rule-preset-recommend'",
      cause,
    });
  });
  /** @type {SecretSpan[]} */
  let found = [];
  const handlers = rules
    .filter(({ meta }) => meta.id !== COMMENTS_RULE)
    .map(({ meta, create }) => {
      const report = (/** @type {{ message: { data?: any }, range: readonly number[] }} */ { message, range }) => {
        const rule = meta.id.slice(RULE_PREFIX.length);
        found.push({ ...locateSecret(content, range, { data: message.data, isWord: rule === NPM_CUE }), rule });
      };
      const createTranslator = () => (/** @type {any} */ messageId, /** @type {any} */ data) => ({
        message: "",
        messageId: String(messageId),
        data,
      });
      return create({ sharedOptions: {}, createTranslator, report, ignore: () => {} }, {});
    });
  let content = "";
  return (text) => {
    content = text;
    found = [];
    const source = /** @type {any} */ ({ filePath: NPMRC_FILE, content, ext: "", contentType: "text" });
    for (const { file } of handlers) file?.(source);
    return found;
  };
}

// Finds the secret itself: some rules give the beginning of a whole assignment, but the length of the secret at its
// end.
/**
 * @param {string} content
 * @param {readonly number[]} range
 * @param {{ data: any, isWord: boolean }} what `data`: what the message quotes
 */
function locateSecret(content, [start = 0, end = start], { data, isWord }) {
  const quoted = Object.values(data ?? {}).find((one) => typeof one === "string" && one.length === end - start);
  const at = quoted === undefined ? -1 : content.indexOf(quoted, start);
  if (at < 0) return { start, end };
  return { start: at, end: at + (isWord ? quoted.search(/(?<=[^"'`\s])["'`\s]|$/) : quoted.length) };
}
