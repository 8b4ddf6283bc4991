// @ts-check
/**
 * The evidence for contexts in its long form: the laws on grown histories, and some of the contexts again in
 * WebAssembly.
 */
// Tries: src/context/, src/context/strategies/

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { agents } from "../../js/wasm/agents.js";
import { bytesOf, textOf, toBytes } from "../../js/wasm/core.js";
import { watch } from "../../scripts/run.mjs";
import { scene } from "./tools.mjs";

const BUILDS = 1_000_000;

/** @type {import("../../scripts/faults.mjs").Fault} */
export default {
  title:
    "whatever a history holds, a context of it keeps the laws, in every shape, and is the same bytes natively and in WebAssembly",
  async run({ scaled, seed }) {
    return scene("contexts", async ({ folder }) => {
      const scale = scaled(BUILDS) / BUILDS;
      // A part of it is not worth another build: it runs in the one that `cargo test` made.
      const profile = scale < 1 ? "test" : "faults";
      const env = { LEFTOFF_SCALE: String(scale), LEFTOFF_SEED: String(seed), LEFTOFF_CONTEXTS: folder };
      const { ok, output } = await watch(
        "cargo",
        ["test", "--profile", profile, "--test", "all", "--", "--show-output", "context_laws::"],
        { env, quiet: true },
      );
      assert.ok(ok, output);
      /** @type {Record<string, number | string>} */
      const counts = { profile };
      for (const [, what = "", count] of output.matchAll(/^counted (.+): (\d+)$/gm)) counts[what] = Number(count);
      assert.ok(
        Number(counts.builds) >= scaled(BUILDS),
        `expected ${scaled(BUILDS)} builds, but found ${counts.builds} instead`,
      );
      counts["again in WebAssembly"] = rebuildContexts(join(folder, "contexts.jsonl"));
      return counts;
    });
  },
};

/** Makes the contexts again that were made natively, and answers how many they are. @param {string} path */
function rebuildContexts(path) {
  const lines = readFileSync(path, "utf8").trimEnd().split("\n");
  assert.ok(lines.length > 100, `expected more than 100 contexts, but found ${lines.length} instead`);
  for (const line of lines) {
    const { log, request, context } = JSON.parse(line);
    const found = textOf(
      agents.call((module) =>
        module.contextOfLog(bytesOf(log), toBytes(JSON.parse(request)), module.Counter.estimate()),
      ),
    );
    assert.equal(found, context, request);
  }
  return lines.length;
}
