// @ts-check
/** Counting tokens: beside the fastest counters of npm, on texts that nothing splits, and what it takes to begin. */

import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { root } from "../scripts/run.mjs";
import { gzipSize, loadedBy } from "../scripts/size.mjs";
import { corpus } from "./corpus.mjs";
import { RIVALS } from "./engines.mjs";
import { NAMES } from "./runs.mjs";
import { inFolder, median } from "./tools.mjs";

const ENCODINGS = ["o200k_base", "cl100k_base"];
const ROUNDS = 5;
const STARTS = 11;
/** Nothing here takes a tenth of it, unless it hangs. */
const TIMEOUT_MS = 120_000;
const MEGABYTE = 1_000_000;

const count = fileURLToPath(new URL("count.mjs", import.meta.url));

/** @typedef {import("../scripts/bench.mjs").Figure} Figure */

/** @type {import("../scripts/bench.mjs").Bench} */
export default {
  title: `tokens, beside ${RIVALS.map((name) => `${name} ${versionOf(name)}`).join(" and ")}`,
  run: () => inFolder(measure),
};

/** @param {string} folder */
async function measure(folder) {
  const messages = corpus();
  const [texts, prose] = [join(folder, "texts.json"), join(folder, "prose.txt")];
  writeFileSync(texts, JSON.stringify(messages.map(({ text }) => text)));
  writeFileSync(
    prose,
    messages
      .filter(({ kind }) => kind === "prose")
      .map(({ text }) => text)
      .join("")
      .slice(0, MEGABYTE),
  );
  const bytes = messages.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0);
  return [
    { what: `${messages.length.toLocaleString("en")} messages`, value: bytes / MEGABYTE, unit: "MB" },
    ...ENCODINGS.flatMap((encoding) => throughput(encoding, texts, bytes)),
    ...NAMES.flatMap((name) => unbroken(name, prose)),
    ...starts(),
    ...(await weights()),
  ];
}

/** @param {string} encoding @param {string} texts @param {number} bytes @returns {Figure[]} */
function throughput(encoding, texts, bytes) {
  /** @type {Record<string, { firstMs: number, warmMs: number, counts: number[] }[]>} */
  const done = { leftoff: [], ...Object.fromEntries(RIVALS.map((name) => [name, []])) };
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [name, all] of Object.entries(done)) {
      const one = inProcess("passes", name, encoding, texts);
      if (one.missing) return [missing(`${encoding}, ${name}`, one.missing)];
      all.push(one);
    }
  }
  const passes = { first: /** @type {const} */ ("firstMs"), warm: /** @type {const} */ ("warmMs") };
  const limits = { first: { atLeast: 3, aim: 6 }, warm: { atLeast: 2, aim: 4 } };
  const figures = /** @type {(keyof typeof passes)[]} */ (Object.keys(passes)).flatMap((pass) => {
    const ms = (/** @type {string} */ name) => median((done[name] ?? []).map((one) => one[passes[pass]]));
    const [fastest = ""] = RIVALS.toSorted((a, b) => ms(a) - ms(b));
    const value = ms(fastest) / ms("leftoff");
    return [
      { what: `${encoding}, ${pass}, to ${fastest}`, value, unit: "times", ...limits[pass] },
      ...Object.keys(done).map((name) => ({
        what: `${encoding}, ${pass}: ${name}`,
        value: bytes / 1000 / ms(name),
        unit: "MB/s",
      })),
    ];
  });
  const [ours = [], theirs = []] = ["leftoff", "gpt-tokenizer"].map((name) => done[name]?.[0]?.counts);
  const differing = theirs.filter((count, at) => count !== ours[at]).length;
  return [
    ...figures,
    { what: `${encoding}: messages counted other than by gpt-tokenizer`, value: differing, unit: "", atMost: 0 },
  ];
}

/** @param {string} name @param {string} prose @returns {Figure[]} */
function unbroken(name, prose) {
  const { missing: why, prose: perByte, one, ten } = inProcess("unbroken", "leftoff", "o200k_base", name, prose);
  if (why) return [missing(`unbroken ${name}`, why)];
  return [
    {
      what: `1 MB of ${name}, unbroken: a byte, to one of prose`,
      value: one / perByte,
      unit: "times",
      atMost: 30,
      aim: 10,
    },
    { what: `10 MB of ${name}, to 1 MB`, value: (10 * ten) / one, unit: "times", atMost: 12 },
  ];
}

/** @returns {Figure[]} */
function starts() {
  /** @type {Record<string, { ms: number, mb: number }[]>} */
  const done = { nobody: [], leftoff: [], "gpt-tokenizer": [] };
  for (let round = 0; round < STARTS; round += 1) {
    for (const [name, all] of Object.entries(done)) {
      const one = inProcess("start", name, "o200k_base");
      if (one.missing) return [missing("import and first count", one.missing)];
      all.push(one);
    }
  }
  const above = (/** @type {string} */ name, /** @type {"ms" | "mb"} */ what) => {
    const [all, node] = [name, "nobody"].map((name) => median((done[name] ?? []).map((one) => one[what])));
    return (all ?? NaN) - (node ?? NaN);
  };
  const [ours, theirs] = ["leftoff", "gpt-tokenizer"];
  return [
    {
      what: `import and first count, to ${theirs}`,
      value: above(ours, "ms") / above(theirs, "ms"),
      unit: "times",
      atMost: 0.5,
      aim: 0.25,
    },
    {
      what: `memory after it, to ${theirs}`,
      value: above(ours, "mb") / above(theirs, "mb"),
      unit: "times",
      atMost: 0.6,
      aim: 0.35,
    },
    ...[ours, theirs].map((name) => ({
      what: `import and first count, above Node: ${name}`,
      value: above(name, "ms"),
      unit: "ms",
    })),
    ...[ours, theirs].map((name) => ({
      what: `memory after it, above Node: ${name}`,
      value: above(name, "mb"),
      unit: "MB",
    })),
  ];
}

/** What a page loads for counting by o200k_base, compressed. @returns {Promise<Figure[]>} */
async function weights() {
  const ours = await loadedBy(
    'import { countTokens } from "leftoff"; if ((await countTokens("Hello")) !== 1) throw new Error("expected one token");',
  );
  const theirs = gzipSize(await bundleCounter("gpt-tokenizer/encoding/o200k_base"));
  return [
    { what: "compressed bytes to load, to gpt-tokenizer", value: ours / theirs, unit: "times", atMost: 1, aim: 0.8 },
    { what: "compressed bytes to load: leftoff", value: ours / 1000, unit: "KB" },
    { what: "compressed bytes to load: gpt-tokenizer", value: theirs / 1000, unit: "KB" },
  ];
}

/** A program that counts and does nothing else. @param {string} from */
async function bundleCounter(from) {
  const stdin = { contents: `export { countTokens } from "${from}";`, resolveDir: root };
  const {
    outputFiles: [made],
  } = await build({
    stdin,
    bundle: true,
    minify: true,
    write: false,
    format: "esm",
    platform: "node",
    legalComments: "none",
    logLevel: "warning",
  });
  return /** @type {{ contents: Uint8Array }} */ (made).contents;
}

/** What count.mjs says, or why it said nothing. @param {...string} args */
function inProcess(...args) {
  const { stdout, stderr, status, signal } = spawnSync(process.execPath, [count, ...args], {
    encoding: "utf8",
    timeout: TIMEOUT_MS,
    maxBuffer: 2 ** 24,
  });
  if (signal === "SIGTERM") return { missing: `it took longer than ${TIMEOUT_MS / 1000} s` };
  if (status !== 0) throw new Error(`${args.join(" ")}: ${stderr}`);
  return JSON.parse(stdout);
}

/** What cannot be measured holds no limit. @param {string} what @param {string} why @returns {Figure} */
function missing(what, why) {
  return { what: `${what}: missing: ${why}`, value: NaN, unit: "" };
}

/** @param {string} name */
function versionOf(name) {
  return JSON.parse(readFileSync(join(root, "node_modules", name, "package.json"), "utf8")).version;
}
