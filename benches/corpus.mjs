// @ts-check
/**
 * Messages to count, some 5 MB: real text that is on every machine after the set-up. It comes from the packages that
 * the lock file names for each platform and from the project's own fixtures, so it changes only with them.
 */

import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { root } from "../scripts/run.mjs";
import { chance } from "../tests/faults/tools.mjs";

/** Bytes of each kind, as agents' messages have them. */
const BYTES = { prose: 1_900_000, source: 2_100_000, data: 1_050_000, languages: 210_000 };
/** No package says more than this of one kind, so that none sets the tone. */
const PACKAGE_BYTES = 200_000;
const FILE_BYTES = 40_000;
/** Sizes of messages, in characters, by a power law: most are short, most bytes are in long ones. */
const SIZES = { min: 255, max: 65_536, exponent: 0.8 };
/** A message ends with a line, where the line ends soon. */
const LINE = 200;
/** Lines of more than this on average: nobody wrote them. */
const MAX_MEAN_LINE_CHARS = 100;

/** @typedef {keyof typeof BYTES} Kind @typedef {{ kind: Kind, text: string }} Message */

/** @returns {Message[]} the same ones in the same order each time */
export function corpus() {
  const random = chance(1);
  const packages = installedPackages();
  /** @type {Record<Kind, () => Iterable<string>>} */
  const texts = { prose: () => prose(packages), source: () => source(packages), data: () => data(packages), languages };
  const messages = /** @type {Kind[]} */ (Object.keys(texts)).flatMap((kind) => {
    const text = beginning([...texts[kind]()].join("\n\n"), BYTES[kind]);
    if (Buffer.byteLength(text) < 0.9 * BYTES[kind])
      throw new Error(`expected ${BYTES[kind]} bytes of ${kind}, but found ${Buffer.byteLength(text)} instead`);
    return Array.from(cut(text, random), (text) => ({ kind, text }));
  });
  const shuffled = messages.map((message) => ({ message, at: random.real() })).sort((a, b) => a.at - b.at);
  return shuffled.map(({ message }) => message);
}

/** The folders of the packages that every platform has, without those that are vocabularies and little else. */
function installedPackages() {
  const { packages } = JSON.parse(read("package-lock.json"));
  const own = Object.keys(packages).filter(
    (path) => /^node_modules\/(?!@lenml\/)(@[^/]+\/)?[^/]+$/.test(path) && !packages[path].optional,
  );
  return own.sort();
}

/**
 * READMEs and changelogs, and what Node's documentation says in the comments of its types.
 * @param {string[]} packages
 */
function* prose(packages) {
  yield* writtenTexts(packages, /\.(md|markdown)$/i);
  const folder = "node_modules/@types/node";
  for (const path of files(folder, /\.d\.ts$/)) {
    const comments = Array.from(read(path).matchAll(/\/\*\*\n([^]*?)\*\//g), ([, comment = ""]) =>
      comment.replace(/^ *\* ?/gm, ""),
    );
    yield comments.join("\n");
  }
}

/** @param {string[]} packages */
function* source(packages) {
  // Those two are vocabularies above all, and the types are prose already.
  const left = packages.filter((path) => !/\/(gpt-tokenizer|ai-tokenizer|@types\/node)$/.test(path));
  yield* writtenTexts(left, /\.(ts|mts|js|mjs|cjs)$/);
}

/** JSON, and what tools print: a transcript, a listing, what a search finds. @param {string[]} packages */
function* data(packages) {
  yield* writtenTexts(packages, /\.json$/);
  yield beginning(read("package-lock.json"), 100_000);
  for (const path of files("tests/fixtures/claude-code/real", /\.jsonl$/)) yield read(path);
  const types = files("node_modules/@types/node", /\.d\.ts$/);
  const found = types.flatMap((path) =>
    read(path)
      .split("\n")
      .flatMap((line, at) => (/\bexport\b|\bfunction\b|@since/.test(line) ? [`${path}:${at + 1}:${line}`] : [])),
  );
  yield beginning(found.join("\n"), 250_000);
  yield packages.flatMap((path) => files(path, /./).map((file) => `./${file}`)).join("\n");
}

/** The fixtures, and a compiler's messages in thirteen languages. */
function* languages() {
  for (const path of files("tests/fixtures/texts", /\.(txt|1)$/)) yield read(path);
  for (const path of files("node_modules/typescript-compiler-api/lib", /diagnosticMessages\.generated\.json$/)) {
    yield beginning(Object.values(JSON.parse(read(path))).join("\n"), 12_000);
  }
}

/**
 * What people wrote: each text once, of each package no more than its share.
 * @param {string[]} packages
 * @param {RegExp} name
 */
function* writtenTexts(packages, name) {
  const seen = new Set();
  for (const folder of packages) {
    let left = PACKAGE_BYTES;
    for (const path of files(folder, name)) {
      const text = beginning(read(path), Math.min(FILE_BYTES, left));
      if (seen.has(text) || text.length > MAX_MEAN_LINE_CHARS * text.split("\n").length) continue;
      seen.add(text);
      left -= Buffer.byteLength(text);
      yield text;
    }
  }
}

/** Files as seen from the root, without those of packages inside. @param {string} folder @param {RegExp} name */
function files(folder, name) {
  const names = readdirSync(join(root, folder), { recursive: true, withFileTypes: true }).filter((one) => one.isFile());
  const paths = names.map((one) => join(one.parentPath, one.name).slice(root.length).replaceAll("\\", "/"));
  return paths.filter((path) => name.test(path) && !path.slice(folder.length).includes("/node_modules/")).sort();
}

/**
 * Without a byte order mark: it is none of the text, and gpt-tokenizer counts it otherwise than tiktoken.
 * @param {string} path as seen from the root
 */
function read(path) {
  return readFileSync(join(root, path), "utf8").replace(/^\ufeff/, "");
}

/** @param {string} text @param {number} bytes */
function beginning(text, bytes) {
  const all = Buffer.from(text);
  return all.length <= bytes ? text : all.toString("utf8", 0, bytes).replace(/\ufffd+$/, "");
}

/** @param {string} text @param {ReturnType<typeof chance>} random */
function* cut(text, random) {
  const { min, max, exponent } = SIZES;
  for (let start = 0; start < text.length;) {
    // Pareto's law with an upper bound, inverted.
    const share = 1 - random.real() * (1 - (min / max) ** exponent);
    let end = start + Math.round(min * share ** (-1 / exponent));
    const line = text.indexOf("\n", end) + 1;
    if (line > 0 && line - end < LINE) end = line;
    // Not between the halves of a letter.
    if (/[\udc00-\udfff]/.test(text.charAt(end))) end += 1;
    yield text.slice(start, end);
    start = end;
  }
}
