// @ts-check
/** Words in a gigabyte of what was said, beside what no search can do without: the files read once. */

import { copyFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { openStore } from "../js/index.js";
import { root } from "../scripts/run.mjs";
import { inFolder, inTurns } from "./tools.mjs";

const COPIES = 100;
const LOG_BYTES = 10_000_000;
/** As long as a usual message. */
const WORDS = 200;
const RARE = "xylophone";

/** @type {import("../scripts/bench.mjs").Bench} */
export default {
  title: `words in ${(COPIES * LOG_BYTES) / 1e9} GB of logs, in ${COPIES} sessions`,
  run: () => inFolder(measure),
};

/** @param {string} folder */
async function measure(folder) {
  const log = await fillLog(folder);
  const store = await openStore({ home: join(folder, "copies"), project: folder, countTokens: false });
  /** @type {string[]} */
  const paths = [];
  for (let n = 0; n < COPIES; n += 1) {
    const session = await store.create();
    await session.close();
    copyFileSync(log, join(session.path, "messages.jsonl"));
    paths.push(session.path);
  }
  let first = NaN;
  const search = async (/** @type {string[]} */ ...words) => {
    const start = performance.now();
    let count = 0;
    for await (const _ of store.search(words.map((word) => `"${word}"`).join(" ")))
      if ((count += 1) === 1) first = performance.now() - start;
    return count;
  };
  if ((await search(RARE)) < COPIES) throw new Error("expected a hit in each session");
  await search(RARE);
  const firstMs = first;
  const once = (/** @type {() => unknown} */ work) => ({ times: 1, once: work });
  const read = () => paths.forEach((path) => readFileSync(join(path, "messages.jsonl")));
  const ways = {
    read: once(read),
    rare: once(() => search(RARE)),
    common: once(() => search("storage", "durable", "nowhere")),
    accents: once(() => search("é日本語")),
  };
  const { read: plain = NaN, rare = NaN, common = NaN, accents = NaN } = await inTurns(ways, { rounds: 3 });
  await store.close();
  return [
    { what: "a word that is in few messages", value: rare / 1e6, unit: "s", atMost: 5 },
    { what: "words that are in many, not all in one", value: common / 1e6, unit: "s", atMost: 5 },
    { what: "a word beyond ASCII", value: accents / 1e6, unit: "s", atMost: 5 },
    { what: "the first hit", value: firstMs, unit: "ms", atMost: 300 },
    { what: "the first of these, to reading the files once", value: rare / plain, unit: "times" },
  ];
}

/** A log of what was said: the words of a document, in an order of their own in each message. @param {string} folder */
async function fillLog(folder) {
  const words = readFileSync(join(root, "docs", "FORMAT.md"), "utf8").split(/\s+/);
  const store = await openStore({ home: join(folder, "home"), project: folder, countTokens: false });
  const session = await store.create();
  for (let bytes = 0, n = 0; bytes < LOG_BYTES;) {
    const drafts = Array.from({ length: 100 }, () => {
      n += 1;
      const content = Array.from({ length: WORDS }, (_, place) => words[(n * 7 + place * 13) % words.length]).join(" ");
      return { role: n % 2 ? "user" : "assistant", content: n % 500 === 0 ? `${content} ${RARE}` : content };
    });
    await session.append(drafts, { durability: "buffered" });
    bytes += drafts.reduce((sum, { content }) => sum + content.length, 0);
  }
  await store.close();
  return join(session.path, "messages.jsonl");
}
