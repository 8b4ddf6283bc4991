// @ts-check
/** Importing Claude Code's logs, beside what reading them cannot do without: the file, its lines, each parsed. */

import { mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { countTokens as theirs } from "gpt-tokenizer/encoding/o200k_base";
import { countTokens, openStore } from "../js/index.js";
import { root } from "../scripts/run.mjs";
import { inFolder, inTurns } from "./tools.mjs";

const FILES = 10;
const FILE_BYTES = 10_000_000;
/** Counting is slow on either side: a part of the files shows the ratio. */
const COUNTED_FILES = 2;

/** What is repeated: the conversations of two real clients, and records of a third's, most of them tools at work. */
const SOURCES = [
  "ccsession-cli/claude-2.1.287/projects/-tmp-e2e-proj",
  "real/2.1.329",
  "claude-code-log/messages/tools",
  "claude-code-log/messages/assistant",
];

/** @type {import("../scripts/bench.mjs").Bench} */
export default {
  title: `${(FILES * FILE_BYTES) / 1e6} MB of Claude Code's logs, in ${FILES} files`,
  run: () => inFolder(measure),
};

/** @param {string} folder */
async function measure(folder) {
  const [all, some] = [join(folder, "all"), join(folder, "some")];
  for (const into of [all, some]) mkdirSync(into);
  for (let n = 0; n < FILES; n += 1) {
    const log = session(n);
    for (const into of n < COUNTED_FILES ? [all, some] : [all]) writeFileSync(join(into, `${n}.jsonl`), log);
  }
  // The vocabulary is loaded before anything is measured.
  await countTokens("a");
  let homes = 0;
  const imported = async (/** @type {string} */ from, /** @type {boolean} */ countTokens) => {
    const store = await openStore({ home: join(folder, `home-${(homes += 1)}`), project: folder, countTokens });
    const { imported, problems } = await store.import(from);
    const added = imported.reduce((sum, { added }) => sum + added, 0);
    if (added < 1000 || problems.length > 0)
      throw new Error(`expected thousands of messages, but found ${added}, and ${problems.length} problems`);
    await store.close();
  };
  const once = (/** @type {() => unknown} */ work) => ({ times: 1, once: work });
  const plain = await inTurns(
    { ours: once(() => imported(all, false)), parse: once(() => parseFolder(all, () => {})) },
    { rounds: 3 },
  );
  const counted = await inTurns(
    { ours: once(() => imported(some, true)), parse: once(() => parseFolder(some, count)) },
    { rounds: 3 },
  );
  const { ours = NaN, parse = NaN } = plain;
  const { ours: oursCounted = NaN, parse: parsedAndCounted = NaN } = counted;
  const megabytes = (FILES * FILE_BYTES) / 1e6;
  return [
    { what: "importing, counting off, to read, indexOf and parse", value: ours / parse, unit: "times", atMost: 1.5 },
    {
      what: "importing and counting, to parse and gpt-tokenizer",
      value: oursCounted / parsedAndCounted,
      unit: "times",
      atMost: 0.5,
    },
    { what: "importing, counting off", value: megabytes / (ours / 1e6), unit: "MB/s" },
    { what: "read, indexOf and parse", value: megabytes / (parse / 1e6), unit: "MB/s" },
    { what: "importing and counting", value: (COUNTED_FILES * FILE_BYTES) / oursCounted, unit: "MB/s" },
    { what: "parse and gpt-tokenizer", value: (COUNTED_FILES * FILE_BYTES) / parsedAndCounted, unit: "MB/s" },
  ];
}

const UUID = /\b[0-9a-f]{8}(?=-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})/g;
const NAME = /(?<=\b(?:msg|toolu)_)\w{8}/g;

/**
 * A session of the sources' records, again and again, each time with ids of their own, in one chain.
 * @param {number} n
 */
function session(n) {
  const sessionId = `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`;
  let [log, parentUuid] = ["", null];
  for (let copy = 0; log.length < FILE_BYTES; copy += 1) {
    const mark = Math.imul(n * 1000 + copy + 1, 0x9e3779b1);
    const marked = (/** @type {string} */ hex) => ((parseInt(hex, 16) ^ mark) >>> 0).toString(16).padStart(8, "0");
    for (const line of realLines()) {
      const record = JSON.parse(line.replace(UUID, marked).replace(NAME, marked("0")));
      if (record.sessionId) record.sessionId = sessionId;
      if (record.uuid) [record.parentUuid, parentUuid, record.isSidechain] = [parentUuid, record.uuid, false];
      log += `${JSON.stringify(record)}\n`;
    }
  }
  return log;
}

/** @type {string[] | undefined} */
let lines;

function realLines() {
  const folder = join(root, "tests", "fixtures", "claude-code");
  const files = SOURCES.flatMap((source) =>
    readdirSync(join(folder, source))
      .sort()
      .filter((name) => name.endsWith(".jsonl"))
      .map((name) => join(folder, source, name)),
  );
  lines ??= files.flatMap((file) => readFileSync(file, "utf8").split("\n").filter(Boolean));
  return lines;
}

/**
 * The fastest way that plain Node has: a string of a whole file takes longer.
 * @param {string} folder
 * @param {(record: any) => void} each
 */
function parseFolder(folder, each) {
  for (const name of readdirSync(folder)) {
    const bytes = readFileSync(join(folder, name));
    for (let start = 0, end; (end = bytes.indexOf(10, start)) >= 0; start = end + 1)
      each(JSON.parse(bytes.toString("utf8", start, end)));
  }
}

const disallowedSpecial = new Set();

/** What leftoff counts: texts, calls and results. @param {any} record */
function count({ message }) {
  const content = message?.content ?? [];
  for (const { text, content: inner, id, name, input } of typeof content === "string" ? [{ text: content }] : content) {
    const results = Array.isArray(inner) ? inner.map(({ text }) => text) : [inner];
    for (const one of [text, ...results, id, name, input && JSON.stringify(input)])
      if (one) theirs(one, { disallowedSpecial });
  }
}
