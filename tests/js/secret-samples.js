// @ts-check
/**
 * Samples of secrets that others test their finders with, and which share of them is found: by leftoff, and by
 * secretlint alone.
 */
import { readFileSync } from "node:fs";
import { rules } from "@secretlint/secretlint-rule-preset-recommend";

import { MemoryStorage } from "../../js/index.js";
import { Redaction } from "../../js/privacy/redaction.js";

/** @import { SecretSpan, SecretScan } from "../../js/privacy/secrets.js" */

/**
 * @typedef {{ kind: string, text: string, secrets?: string[] }} Sample `secrets`: what in the text is one, where the
 *   source says it
 */
/** @typedef {{ samples: number, leftoff: number, secretlint: number }} Share */

export const CORPORA = /** @type {const} */ (["secretlint", "gitleaks", "detect-secrets"]);

const folder = new URL("../fixtures/secrets/", import.meta.url);
/** Fewer letters of a secret in a row tell nothing of it. */
const LEAST = 8;
const door = new Redaction("replace", { storage: new MemoryStorage(), folder: "/home" });

/** @param {typeof CORPORA[number]} corpus @returns {Sample[]} */
export function samplesOf(corpus) {
  const lines = readFileSync(new URL(`${corpus}.jsonl`, folder), "utf8")
    .trimEnd()
    .split("\n");
  return lines.map((line) => {
    const { kind, text, secrets } = /** @type {Sample} */ (JSON.parse(line));
    return { kind, text: plain(text), ...(secrets && { secrets: secrets.map(plain) }) };
  });
}

/**
 * How many samples are found, by their kind.
 * @param {typeof CORPORA[number]} corpus
 * @returns {Promise<Map<string, Share>>}
 */
export async function shares(corpus) {
  const alone = secretlintAlone();
  /** @type {Map<string, Share>} */
  const kinds = new Map();
  for (const sample of samplesOf(corpus)) {
    const share = kinds.get(sample.kind) ?? { samples: 0, leftoff: 0, secretlint: 0 };
    share.samples += 1;
    if (isFound(sample, await spansOf(sample.text))) share.leftoff += 1;
    if (isFound(sample, alone(sample.text))) share.secretlint += 1;
    kinds.set(sample.kind, share);
  }
  return kinds;
}

/** @param {Iterable<Share>} all */
export function sum(all) {
  const total = { samples: 0, leftoff: 0, secretlint: 0 };
  for (const one of all)
    for (const name of /** @type {const} */ (["samples", "leftoff", "secretlint"])) total[name] += one[name];
  return total;
}

/**
 * Whether nothing is left of each secret that the source marks; where it marks none, whether anything is found.
 * @param {Sample} sample
 * @param {Pick<SecretSpan, "start" | "end">[]} found
 */
function isFound({ text, secrets }, found) {
  if (!secrets) return found.length > 0;
  const left = [...Array(text.length).keys()]
    .map((at) => (found.some(({ start, end }) => start <= at && at < end) ? "\0" : text[at]))
    .join("");
  // One that is marked may stand in another word as well, where the source does not want it to be found.
  return secrets.every((secret) =>
    placesOf(text, secret).some((at) => isGone(secret, left.slice(at, at + secret.length))),
  );
}

/**
 * Where placeholders stand for something in a text: what they leave of it, in order, says that.
 * @param {string} text
 */
export async function spansOf(text) {
  const [first = "", ...rest] = (await door.redact(text)).value.split(/\[redacted:[^\]]*\]/);
  let at = first.length;
  return rest.map((kept, place) => {
    const start = at;
    const end = place === rest.length - 1 ? text.length - kept.length : text.indexOf(kept, start + 1);
    at = end + kept.length;
    return { start, end };
  });
}

/** @param {string} text @param {string} secret */
function placesOf(text, secret) {
  const places = [];
  for (let at = text.indexOf(secret); at >= 0; at = text.indexOf(secret, at + 1)) places.push(at);
  return places;
}

// Of an address only the name and the password are secret.
/** @param {string} secret @param {string} left */
function isGone(secret, left) {
  const [address, scheme = ""] = /^([a-z+:]+\/\/)[^@]+@/.exec(secret) ?? [];
  if (address) return /^\0+$/.test(left.slice(scheme.length, address.length - 1));
  return left.split("\0").every((rest) => rest.length < LEAST);
}

/** The recommended rules as they come, but the one that obeys comments. @returns {SecretScan} */
export function secretlintAlone() {
  /** @type {SecretSpan[]} */
  let found = [];
  const handlers = rules
    .filter(({ meta }) => !meta.id.endsWith("filter-comments"))
    .map(({ meta, create }) => {
      const createTranslator = () => (/** @type {any} */ messageId, /** @type {any} */ data) => ({
        message: "",
        messageId: String(messageId),
        data,
      });
      const report = (/** @type {{ range: readonly number[] }} */ { range: [start = 0, end = 0] }) =>
        found.push({ start, end, rule: meta.id });
      return create({ sharedOptions: {}, createTranslator, report: /** @type {any} */ (report), ignore: () => {} }, {});
    });
  return (text) => {
    found = [];
    const source = /** @type {any} */ ({ filePath: ".npmrc", content: text, ext: "", contentType: "text" });
    for (const { file } of handlers) file?.(source);
    return found;
  };
}

// Stored so that nobody's scanner takes a sample for a leak.
/** @param {string} stored */
function plain(stored) {
  return [...Buffer.from(stored, "base64").toString("utf8")].reverse().join("");
}
