// @ts-check
// Fuzzes counting in WebAssembly: changes inputs of the native fuzzer at random, and counts them natively by
// tiktoken-rs and in WebAssembly.

import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { inWasm } from "../tests/faults/counted.mjs";
import { chance, scene } from "../tests/faults/tools.mjs";
import { fail, seconds, watch } from "./run.mjs";

/** How many texts one native process counts. */
const BATCH_INPUTS = 1000;
/** The longest text, in bytes. */
const MAX_INPUT_BYTES = 64 * 1024;
/** The most changes that are made to an input. */
const MAX_CHANGES = 8;

/** @typedef {ReturnType<typeof chance>} Chance */

/** Ends the process where a count differs. @param {{ corpus: string, minutes: number, seed: number }} options */
export async function fuzzWasm({ corpus, minutes, seed }) {
  const inputs = readdirSync(corpus)
    .sort()
    .map((name) => readFileSync(join(corpus, name)));
  const random = chance(seed);
  const start = performance.now();
  let [texts, bytes] = [0, 0];
  await scene("fuzz-wasm", async ({ folder }) => {
    const batch = join(folder, "texts");
    while (performance.now() - start < minutes * 60_000) {
      rmSync(batch, { recursive: true, force: true });
      mkdirSync(batch);
      for (let n = 0; n < BATCH_INPUTS; n += 1) writeFileSync(join(batch, String(n)), mutateInput(inputs, random));
      const counts = await countNatively(batch, folder);
      texts += counts;
      bytes += await inWasm(join(folder, "files"));
    }
  });
  const said = (/** @type {number} */ count) => count.toLocaleString("en");
  console.log(
    `ok tokens in WebAssembly: seed ${seed}, inputs ${said(inputs.length)}, texts ${said(texts)}, bytes ${said(bytes)} (${seconds(start)})`,
  );
}

/** Counts the files natively; answers how many of them are text. @param {string} texts @param {string} to */
async function countNatively(texts, to) {
  const env = { LEFTOFF_SCALE: "1", LEFTOFF_TEXTS: texts, LEFTOFF_COUNTS: to };
  const { ok, output } = await watch(
    "cargo",
    ["test", "--test", "all", "token_equality::files", "--", "--show-output"],
    { env, quiet: true },
  );
  const counted = Number(output.match(/^counted files: (\d+)$/m)?.[1] ?? 0);
  return ok && counted > 0 ? counted : fail(output);
}

/** @param {Buffer[]} inputs @param {Chance} random */
function mutateInput(inputs, random) {
  const any = () => inputs[random.below(inputs.length)] ?? Buffer.alloc(0);
  let bytes = any();
  for (let left = 1 + random.below(MAX_CHANGES); left > 0; left -= 1)
    bytes = applyChange(bytes, any(), random).subarray(0, MAX_INPUT_BYTES);
  return bytes;
}

/** @param {Buffer} bytes @param {Buffer} other @param {Chance} random */
function applyChange(bytes, other, random) {
  const at = random.below(bytes.length + 1);
  const end = at + random.below(Math.min(bytes.length - at, random.size(1, MAX_INPUT_BYTES)) + 1);
  const [before, between, after] = [bytes.subarray(0, at), bytes.subarray(at, end), bytes.subarray(end)];
  const from = random.below(other.length + 1);
  switch (random.below(5)) {
    case 0:
      return Buffer.concat([before, after]);
    case 1:
      return Buffer.concat([before, other.subarray(from, from + random.size(1, MAX_INPUT_BYTES)), after]);
    case 2:
      return Buffer.concat([before, ...Array(random.size(1, 1000)).fill(between.subarray(0, 64)), after]);
    case 3:
      return Buffer.concat([before, Buffer.from(String.fromCodePoint(1 + random.below(0x10ffff))), between, after]);
    default:
      return Buffer.concat([before, between.map((byte) => byte ^ (1 << random.below(8))), after]);
  }
}
