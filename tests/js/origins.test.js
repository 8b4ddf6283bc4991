// @ts-check
// docs/ORIGINS.md: every requirement that leftoff comes from has a test that shows it, or the reason why it is
// otherwise.
// Tries: docs/ORIGINS.md
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));
const page = readFileSync(join(root, "docs", "ORIGINS.md"), "utf8");

/** The beginnings of the ids: those of the documents, and of the requirements that have ids of their own. */
const CHAPTERS = ["000", "SESS-001", "SESS-002", "SESS-003", "SESS-004", "SESS-005", "SESS-006", "002", "003", "004"];
const ID = /^(.+)-(\d+)$/;
const CITED = /`([^`]+)`: "([^"]+)"/g;
const REASON = /(?:^|\. )(Differs|Not built|Not shown by a test yet): (.*)$/;
/** A shorter part of a title could be of any test. */
const SHORTEST_TITLE = 12;
const FEWEST_WORDS = 3;

/** @typedef {{ id: string, asked: string, shown: string }} Row */

/** The rows of the tables whose first column is an id. @param {string} markdown @returns {Row[]} */
function rowsOf(markdown) {
  const rows = [];
  let isTable = false;
  for (const line of markdown.split("\n")) {
    const [, id = "", asked = "", shown = "", ...more] = line.split(/(?<!\\)\|/).map((cell) => cell.trim());
    if (!line.startsWith("|")) isTable = false;
    else if (id === "id") isTable = true;
    else if (isTable && !/^-+$/.test(id)) rows.push({ id, asked, shown: [shown, ...more.slice(0, -1)].join(" | ") });
  }
  return rows;
}

/** What is wrong with a row by itself. @param {Row} row */
function wrongIn({ id, asked, shown }) {
  const cited = [...shown.matchAll(CITED)];
  const [, , why] = REASON.exec(shown) ?? [];
  const wrong = cited.flatMap(([, path = "", title = ""]) => {
    if (!existsSync(join(root, path))) return [`no file ${path}`];
    if (title.length < SHORTEST_TITLE) return [`"${title}" is too short to name a test`];
    return readFileSync(join(root, path), "utf8").includes(title) ? [] : [`no test "${title}" in ${path}`];
  });
  if (asked === "") wrong.push("nothing is asked for");
  if (why !== undefined && why.split(/\s+/).filter(Boolean).length < FEWEST_WORDS) wrong.push("no reason in words");
  if (cited.length === 0 && why === undefined) wrong.push("neither a test nor a reason");
  return wrong.map((one) => `${id}: ${one}`);
}

/** @param {string} markdown */
function wrongWith(markdown) {
  const rows = rowsOf(markdown);
  /** @type {Map<string, number[]>} */
  const numbers = new Map(CHAPTERS.map((chapter) => [chapter, []]));
  const wrong = rows.flatMap(wrongIn);
  for (const { id } of rows) {
    const [, chapter = "", number] = ID.exec(id) ?? [];
    const known = numbers.get(chapter);
    if (known) known.push(Number(number));
    else wrong.push(`${id}: no chapter has such an id`);
  }
  for (const [chapter, found] of numbers) {
    if (found.length === 0) wrong.push(`${chapter}: it has no rows`);
    for (const number of found.filter((one, place) => found.indexOf(one) !== place))
      wrong.push(`${chapter}-${number}: it is there twice`);
    for (let number = 1; number < Math.max(0, ...found); number += 1)
      if (!found.includes(number)) wrong.push(`${chapter}-${number}: it is missing`);
  }
  return wrong;
}

test("every requirement has a test that is there, or a reason", () => {
  assert.deepEqual(wrongWith(page), []);
});

const [first = { id: "", asked: "", shown: "" }] = rowsOf(page);
const line = page.split("\n").find((one) => one.startsWith(`| ${first.id} |`)) ?? "";
const begin = `| ${first.id} | ${first.asked} |`;

for (const [what, changed, expected] of /** @type {[string, string, RegExp][]} */ ([
  ["with neither", `${begin} |`, /neither a test nor a reason/],
  ["with words that are no reason", `${begin} It is there. |`, /neither a test nor a reason/],
  ["whose reason has no words", `${begin} Differs: |`, /neither a test nor a reason|no reason in words/],
  ["whose reason is a word", `${begin} Not built: later |`, /no reason in words/],
  [
    "with a file that is not there",
    `${begin} \`tests/js/nowhere.test.js\`: "it is there" |`,
    /no file tests\/js\/nowhere\.test\.js/,
  ],
  [
    "with a test that is not there",
    `${begin} \`tests/js/session-scenarios.test.js\`: "SESS-007: ${"never ".repeat(2)}asked for" |`,
    /no test "SESS-007/,
  ],
  ["with a title that names any test", `${begin} \`tests/js/session-scenarios.test.js\`: "SESS" |`, /too short/],
  ["that asks for nothing", line.replace(first.asked, ""), /nothing is asked for/],
  ["of no chapter", line.replace(first.id, "005-1"), /005-1: no chapter/],
  ["that is there twice", `${line}\n${line}`, new RegExp(`${first.id}: it is there twice`)],
  ["that is missing", "", new RegExp(`${first.id}: it is missing`)],
])) {
  test(`a row ${what} is found`, () => {
    assert.ok(page.includes(`\n${line}\n`));
    const wrong = wrongWith(page.replace(`\n${line}\n`, () => `\n${changed}\n`));
    assert.ok(
      wrong.some((one) => expected.test(one)),
      wrong.join("\n"),
    );
  });
}

test("a chapter without rows is found", () => {
  const without = page
    .split("\n")
    .filter((one) => !one.startsWith("| 003-"))
    .join("\n");
  assert.deepEqual(wrongWith(without), ["003: it has no rows"]);
});
