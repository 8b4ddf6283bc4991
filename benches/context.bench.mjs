// @ts-check
/**
 * Contexts: of long logs on the disk, beside the plainest reader of a log's end; the core beside itself, compiled
 * natively; many at a time; beside other builders; and where nothing is counted yet.
 */

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { countTokens as theirs } from "gpt-tokenizer/encoding/o200k_base";
import { NodeStorage, countTokens, openStore } from "../js/index.js";
import { SessionHandle } from "../js/session/handle.js";
import { grow } from "../scripts/grow.mjs";
import { ask } from "../scripts/run.mjs";
import { aiSdk, costs, countAll, langChain, parseLog } from "./builders.mjs";
import { conversation } from "./conversation.mjs";
import { Counting } from "./counting.mjs";
import { tail } from "./tail.mjs";
import { inFolder, inTurns, median } from "./tools.mjs";

const WINDOW = 32_768;
const SIZES = [10_000, 100_000, 1_000_000];
const BATCH = 1000;
/** So many batches differ. */
const DISTINCT_BATCHES = 10;
/** A context of so many tokens is made of so many: results are shortened for it, and nothing else. */
const MILLION = 1_000_000;
const MILLION_SOURCE_TOKENS = 1_300_000;
const PARALLEL = 16;
const PARALLEL_MESSAGES = 2000;
const PARALLEL_BUILDS = 25;
/** LangChain counts a list again for each message that it leaves out: of more it would take minutes. */
const FEW_MESSAGES = 200;
const IMPORTED = { seed: 7, messages: 10_000, longestTurn: 400, bytesEach: 600 };
const measureOnce = (
  /** @type {() => unknown} */ work,
  /** @type {(() => unknown) | undefined} */ after = undefined,
) => ({ times: 1, once: work, after });
const ms = (/** @type {string} */ what, us = NaN) => ({ what, value: us / 1000, unit: "ms" });

/** @typedef {import("../scripts/bench.mjs").Figure} Figure */

/** @type {import("../scripts/bench.mjs").Bench} */
export default {
  title: `contexts of ${WINDOW.toLocaleString("en")} tokens, a quarter of them kept for the answer`,
  run: () => inFolder(measure),
};

/** @param {string} folder */
async function measure(folder) {
  // What is stored is counted by the vocabulary that is loaded.
  await countTokens("a");
  const figures = [];
  for (const size of SIZES) {
    const home = join(folder, `${size}`);
    const id = await fillStore(home, (stats) => stats.messageCount >= size);
    figures.push(...(await ofLog(home, id, size)));
    if (size === SIZES[0]) figures.push(...(await besideOthers(home, id)));
  }
  figures.push(...(await besideNative(join(folder, "million"))));
  figures.push(...(await inParallel(join(folder, "parallel"))));
  figures.push(...(await measureUncounted(folder)));
  return figures;
}

/** @param {string} home @param {string} id @param {number} size @returns {Promise<Figure[]>} */
async function ofLog(home, id, size) {
  const store = await openStore({ home, project: "/" });
  const session = await store.session(id);
  const log = logOf(session);
  const { tokenBudget, strategy, includedMessageCount, report } = await session.context({
    window: WINDOW,
    frame: false,
  });
  const rejected = report.rejected.map((/** @type {{ strategy: string }} */ one) => one.strategy).join();
  if (rejected !== "full-history,pruned-tools")
    throw new Error(`expected full-history and pruned-tools to be rejected, but found ${rejected || strategy} instead`);
  const cost = await inTurns(
    {
      fresh: openedAndBuilt(home, id),
      tail: { times: 10, once: () => tail(log, tokenBudget) },
      again: measureOnce(() => session.context({ window: WINDOW, frame: false })),
    },
    { rounds: 31 },
  );
  await store.close();
  const { fresh = NaN, again = NaN, tail: plain = NaN } = cost;
  const { bytesRead, messages } = tail(log, tokenBudget);
  const of = `${size.toLocaleString("en")} messages`;
  return [
    { what: `${of}: opened and built, to a plain tail reader`, value: fresh / plain, unit: "times", atMost: 2 },
    {
      what: `${of}: bytes, the checkpoint aside, to the same`,
      value: (await bytesOf(home, id)) / bytesRead,
      unit: "times",
      atMost: 2,
    },
    {
      what: `${of}: of the log, until two strategies are rejected`,
      value: report.bytesRead / bytesRead,
      unit: "times",
      atMost: 2,
    },
    {
      what: `${of}: of the log, for a message that is in the context`,
      value: (report.bytesRead / includedMessageCount / bytesRead) * messages.length,
      unit: "times",
    },
    ms(`${of}: opened and built`, fresh),
    ms(`${of}: built once more`, again),
    ms(`${of}: the plain tail reader`, plain),
  ];
}

/** Bytes read of the disk for it, checkpoints aside. @param {string} home @param {string} id */
async function bytesOf(home, id) {
  const storage = new Counting();
  const { once, after } = openedAndBuilt(home, id, storage);
  await once();
  const { bytesRead, cacheBytesRead } = storage;
  await after?.();
  return bytesRead - cacheBytesRead;
}

/**
 * A store opened, its session opened, a context built; closing comes after.
 * @param {string} home
 * @param {string} id
 * @param {Counting} [storage]
 */
function openedAndBuilt(home, id, storage) {
  /** @type {import("../js/index.js").Store} */
  let store;
  const work = async () => {
    store = await openStore({ home, project: "/", storage });
    await (await store.session(id)).context({ window: WINDOW, frame: false });
  };
  return measureOnce(work, () => store.close());
}

/** @param {import("../js/index.js").Session} session */
function logOf({ path }) {
  return join(path, "messages.jsonl");
}

/** @typedef {{ messageCount: number, totalTokens: number }} Stats */

/**
 * A store with one more session, and its checkpoint; gives its id.
 * @param {string} home @param {(stats: Stats) => boolean} isEnough
 */
async function fillStore(home, isEnough) {
  const store = await openStore({ home, project: "/" });
  const session = await store.create();
  const all = conversation();
  // Making texts takes longer than appending them: from the first ten thousand on they come again.
  /** @type {any[][]} */
  const batches = [];
  for (let at = 0; !isEnough(session.metadata.stats); at += 1) {
    const batch = (batches[at % DISTINCT_BATCHES] ??= Array.from({ length: BATCH }, () => all.next().value));
    await session.append(batch, { durability: "buffered" });
  }
  await store.close();
  return session.id;
}

/**
 * Others' builders, each from the same log on the disk.
 * @param {string} home
 * @param {string} id
 * @returns {Promise<Figure[]>}
 */
async function besideOthers(home, id) {
  const store = await openStore({ home, project: "/" });
  const session = await store.session(id);
  const log = logOf(session);
  const { tokenBudget: budget } = await session.context({ window: WINDOW, frame: false });
  const { stored, counted } = costs;
  const few = parseLog(log).slice(-FEW_MESSAGES);
  const cost = await inTurns(
    {
      ours: openedAndBuilt(home, id),
      all: measureOnce(() => countAll(parseLog(log), budget, stored)),
      allCounted: measureOnce(() => countAll(parseLog(log), budget, counted)),
      langChain: measureOnce(() => langChain(parseLog(log), budget, stored)),
      fewCounted: measureOnce(() => langChain(few, budget, counted)),
      aiSdk: measureOnce(() => aiSdk(parseLog(log), budget, stored)),
      aiSdkCounted: measureOnce(() => aiSdk(parseLog(log), budget, counted)),
    },
    { rounds: 3 },
  );
  await store.close();
  const of = (SIZES[0] ?? 0).toLocaleString("en");
  return [
    ms(`${of} messages: leftoff, stored counts`, cost.ours),
    ms("counting all on gpt-tokenizer, stored counts", cost.all),
    ms("the same, without", cost.allCounted),
    ms("LangChain's trimMessages, stored counts", cost.langChain),
    ms(`the same, without, the newest ${FEW_MESSAGES}, from memory`, cost.fewCounted),
    ms("AI SDK's pruneMessages, then all, stored counts", cost.aiSdk),
    ms("the same, without", cost.aiSdkCounted),
  ];
}

/**
 * The core in WebAssembly and compiled natively, both from memory.
 * @param {string} home
 * @returns {Promise<Figure[]>}
 */
async function besideNative(home) {
  const id = await fillStore(home, (stats) => stats.totalTokens >= MILLION_SOURCE_TOKENS);
  const store = await openStore({ home, project: "/" });
  const session = await store.session(id);
  const log = logOf(session);
  const request = { window: MILLION, reserve: 0 };
  const wasm = await inWasm(session.path, request);
  await store.close();
  const { strategy, tokensUsed } = await wasm();
  if (strategy !== "pruned-tools") throw new Error(`expected pruned-tools, but found ${strategy} instead`);
  const native = () =>
    ask("cargo", ["run", "--quiet", "--release", "--example", "context", "--", log, JSON.stringify(request), "3"]);
  // Compiled before anything is measured.
  if (native() === null) throw new Error("expected the example to run, but found that it failed");
  const [ours, theirs] = [/** @type {number[]} */ ([]), /** @type {number[]} */ ([])];
  for (let round = 0; round < 5; round += 1) {
    theirs.push(...(native() ?? "").split("\n").map(Number));
    for (let n = 0; n < 3; n += 1) {
      const start = performance.now();
      await wasm();
      ours.push((performance.now() - start) * 1000);
    }
  }
  const of = `${tokensUsed.toLocaleString("en")} tokens by ${strategy}`;
  return [
    { what: `${of}: the build, to native`, value: Math.min(...ours) / Math.min(...theirs), unit: "times", atMost: 1.5 },
    ms(`${of}: in WebAssembly`, Math.min(...ours)),
    ms(`${of}: natively`, Math.min(...theirs)),
  ];
}

/**
 * Builds of a context by the core's operation; each gives the context.
 * @param {string} path of the session
 * @param {object} request
 */
async function inWasm(path, request) {
  const storage = new NodeStorage();
  const live = new SessionHandle({ storage, path, placement: "home", cache: { storage, folder: join(path, "cache") } });
  await live.run("learn");
  return () => live.run("context", JSON.stringify({ request }));
}

/** Sessions of one store that all build at the same time. @param {string} home @returns {Promise<Figure[]>} */
async function inParallel(home) {
  const ids = [];
  for (let n = 0; n < PARALLEL; n += 1)
    ids.push(await fillStore(home, (stats) => stats.messageCount >= PARALLEL_MESSAGES));
  const store = await openStore({ home, project: "/" });
  const sessions = await Promise.all(ids.map((id) => store.session(id)));
  const times = async (/** @type {typeof sessions} */ some) => {
    /** @type {number[]} */
    const all = [];
    const each = async (/** @type {typeof sessions[0]} */ session) => {
      for (let n = 0; n < PARALLEL_BUILDS; n += 1) {
        const start = performance.now();
        await session.context({ window: WINDOW, frame: false });
        all.push((performance.now() - start) * 1000);
      }
    };
    await Promise.all(some.map(each));
    return all.sort((a, b) => a - b);
  };
  await times(sessions);
  const [alone, together] = [await times(sessions.slice(0, 1)), await times(sessions)];
  await store.close();
  const slowest = together[Math.ceil(0.99 * together.length) - 1] ?? NaN;
  return [
    ms(`${PARALLEL} sessions build at once: 99th percentile`, slowest),
    ms(`${PARALLEL} sessions build at once: median`, median(together)),
    {
      what: "the 99th percentile, to as many builds in turn",
      value: slowest / (PARALLEL * median(alone)),
      unit: "times",
    },
  ];
}

/**
 * An import of which everything is counted, and a context of one that is not.
 * @param {string} folder
 * @returns {Promise<Figure[]>}
 */
async function measureUncounted(folder) {
  const file = join(folder, "claude-code.jsonl");
  writeFileSync(file, grow(IMPORTED));
  let homes = 0;
  const imported = async (/** @type {boolean} */ countTokens) => {
    const home = join(folder, `imported-${(homes += 1)}`);
    const store = await openStore({ home, project: folder, countTokens });
    const {
      imported: [one],
    } = await store.import(file);
    return { store, session: await store.session(/** @type {{ id: string }} */ (one).id) };
  };
  const { store, session } = await imported(false);
  const everything = { window: 2 ** 31, reserve: 0 };
  const { strategy, includedMessageCount } = await session.context({ ...everything, frame: false });
  if (strategy !== "full-history" || includedMessageCount < IMPORTED.messages * 0.9)
    throw new Error(`expected all messages, but found ${includedMessageCount} by ${strategy} instead`);
  const cost = await inTurns(
    {
      context: measureOnce(() => session.context({ ...everything, frame: false })),
      theirs: measureOnce(() => parsedAndCounted(file)),
      imported: measureOnce(async () => (await imported(true)).store.close()),
    },
    { rounds: 3 },
  );
  await store.close();
  const { context = NaN, imported: ours = NaN, theirs = NaN } = cost;
  const of = `an import of ${IMPORTED.messages.toLocaleString("en")} messages`;
  return [
    { what: `${of}, all counted, to parse and gpt-tokenizer`, value: context / theirs, unit: "times", atMost: 0.5 },
    { what: "importing it and counting all, to the same", value: ours / theirs, unit: "times" },
    ms("a context of all of it, nothing counted before", context),
    ms("importing it, all counted", ours),
    ms("parse and gpt-tokenizer", theirs),
  ];
}

/** What the agent wrote, each text counted. @param {string} file */
function parsedAndCounted(file) {
  const disallowedSpecial = new Set();
  let tokens = 0;
  for (const { message } of parseLog(file)) {
    const blocks = typeof message.content === "string" ? [{ text: message.content }] : message.content;
    for (const { text, content, id, name, input } of blocks) {
      for (const one of [text, content, id, name, input && JSON.stringify(input)])
        if (one) tokens += theirs(one, { disallowedSpecial });
    }
  }
  return tokens;
}
