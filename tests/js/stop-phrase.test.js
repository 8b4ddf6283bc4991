// @ts-check
// Who wants to stop is understood, and who wants something stopped is not taken for one of them. Half of the phrases
// were written before the rules, and not looked at while these were made.
// Tries: src/state/stopping/, js/session/texts.js
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { findStopPhrase } from "../../js/index.js";

const file = new URL("../fixtures/pause-phrases.tsv", import.meta.url);
const ROWS = readFileSync(file, "utf8")
  .trimEnd()
  .split("\n")
  .map((line) => line.split("\t"));

/** @param {string[][]} rows */
function measureRecall(rows) {
  const count = (/** @type {string} */ kind, /** @type {boolean} */ isFound) =>
    rows.filter(([, is, text = ""]) => is === kind && (findStopPhrase(text) !== undefined) === isFound).length;
  const found = count("pause", true);
  return { recall: found / (found + count("pause", false)), precision: found / (found + count("work", true)) };
}

for (const [half, size] of /** @type {const} */ ([
  ["made-by", 100],
  ["held-out", 100],
  [undefined, 200],
])) {
  test(`of ${half ?? "all"} phrases nine of ten that pause are found, and of those found nineteen of twenty do`, (t) => {
    const rows = ROWS.filter(([of]) => half === undefined || of === half);
    assert.deepEqual([rows.length, rows.filter(([, is]) => is === "pause").length], [size, size / 2]);
    const { recall, precision } = measureRecall(rows);
    t.diagnostic(`recall ${recall.toFixed(3)}, precision ${precision.toFixed(3)}`);
    assert.ok(recall >= 0.9 && precision >= 0.95, `recall ${recall}, precision ${precision}`);
  });
}

test("the words that say so are answered, and nothing for what only quotes them", () => {
  assert.equal(findStopPhrase("Thanks, that works. Let’s stop here for today!"), "Let’s stop here for today");
  assert.equal(findStopPhrase("lte's stpo here"), "lte's stpo here");
  for (const text of [
    "",
    "…",
    'make it say "let\'s stop here" at the end',
    "```\nlet's stop here\n```",
    "rename `goodbye`",
  ])
    assert.equal(findStopPhrase(text), undefined, text);
});

test("a megabyte is answered at once, also one that is made to be matched slowly", () => {
  for (const piece of ["ok ", "because ", "for now ", "and i ll continue ", "let's stop, ", "a\n", '"', "("]) {
    const start = performance.now();
    findStopPhrase(piece.repeat(Math.ceil(1e6 / piece.length)));
    findStopPhrase(piece.repeat(180 / piece.length));
    const ms = performance.now() - start;
    assert.ok(ms < 2_000, `${piece}: ${Math.round(ms)} ms`);
  }
});
