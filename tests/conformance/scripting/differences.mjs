// @ts-check
/** What a script came to beside what its record says: the first thing that differs, so that a person can read it. */

import { inspect } from "node:util";

import { shortOf } from "./masks.mjs";

/** @import { ScriptRun, Script } from "./run.mjs" */

/** So many differences of one answer are told. */
const MOST = 5;

/**
 * @param {Script} script @param {ScriptRun} found
 * @returns {string | undefined} nothing where it is as it was recorded
 */
export function differing(script, found) {
  return differingAnswer(script, found.answers) ?? differingFile(script, found);
}

/** @param {Script} script @param {unknown[]} found */
function differingAnswer({ steps, answers = [] }, found) {
  for (const [place, step] of steps.entries()) {
    const differences = [...findDifferences(answers[place], found[place], "the answer")].slice(0, MOST);
    if (differences.length > 0) return `step ${place + 1}, ${JSON.stringify(step)}\n  ${differences.join("\n  ")}`;
  }
  return undefined;
}

/** Where two values differ. @param {any} expected @param {any} found @param {string} at @returns {Generator<string>} */
function* findDifferences(expected, found, at) {
  const areObjects = [expected, found].every((one) => one !== null && typeof one === "object");
  if (!areObjects || Array.isArray(expected) !== Array.isArray(found)) {
    if (expected !== found)
      yield `expected ${formatValue(expected)} for ${at}, but found ${formatValue(found)} instead`;
    return;
  }
  for (const key of new Set([...Object.keys(expected), ...Object.keys(found)]))
    yield* findDifferences(expected[key], found[key], `${at}.${key}`);
  const [before, now] = [Object.keys(expected), Object.keys(found)];
  if (before.join() !== now.join())
    yield `expected the keys ${before.join(", ")} in ${at}, but found ${now.join(", ")} instead`;
}

/** @param {Script} script @param {ScriptRun} found */
function differingFile({ files = {} }, { files: all, texts }) {
  for (const [name, { size, sha256, lines, link }] of Object.entries(files)) {
    const one = all[name];
    if (!one) return `expected the file "${name}", but found none; there are\n  ${Object.keys(all).join("\n  ")}`;
    if (link !== one.link) return `expected "${name}" to lead to ${link}, but found ${one.link} instead`;
    if (sha256 === one.sha256 && size === one.size) continue;
    return `expected ${size} bytes in "${name}", but found ${one.size} others:\n${markLines(texts.get(name) ?? "", lines)}`;
  }
  const more = Object.keys(all).find((name) => !(name in files));
  return more && `expected no file "${more}", but found it:\n${texts.get(more) ?? all[more]?.link}`;
}

/** The lines of a file; those that the record does not have are marked. @param {string} text @param {string} [lines] */
function markLines(text, lines) {
  const known = new Set(lines?.split(" "));
  return text
    .split("\n")
    .map((line) => `  ${lines === undefined || known.has(shortOf(line)) ? " " : ">"} ${line.slice(0, 2000)}`)
    .join("\n");
}

/** @param {unknown} value */
function formatValue(value) {
  return inspect(value, { depth: 12, breakLength: Infinity, maxStringLength: 1000 });
}
