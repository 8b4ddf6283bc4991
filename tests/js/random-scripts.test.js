// @ts-check
// Scripts by chance: the same time and chance give the same answers and bytes, whatever other stores and processes do between.
// `LEFTOFF_SCALE=1` tries 1,000, `LEFTOFF_SEED` the same ones again.
import assert from "node:assert/strict";
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import fc from "fast-check";

import { differing } from "../conformance/scripting/compared.mjs";
import { scripts } from "../conformance/scripting/random.mjs";
import { ran } from "../conformance/scripting/run.mjs";

const SCRIPTS = Math.max(1, Math.round(1000 * Number(process.env.LEFTOFF_SCALE ?? 0.02)));
const SEED = Number(process.env.LEFTOFF_SEED ?? Date.now() % 2 ** 31);

test(`equal time and chance give equal answers and bytes: ${SCRIPTS} scripts of the seed ${SEED}`, async () => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "leftoff-random-")));
  const tried = async (/** @type {{ steps: any[] }} */ script) => {
    const options = { seed: "random", made: join(folder, "same") };
    const { answers, files } = await ran(script, options);
    const differs = differing({ tries: "", ...script, answers, files }, await ran(script, options));
    if (differs) assert.fail(differs);
  };
  try {
    const { failed, counterexample, errorInstance } = await fc.check(fc.asyncProperty(scripts, tried), { seed: SEED, numRuns: SCRIPTS });
    if (failed) assert.fail(`${errorInstance instanceof Error ? errorInstance.stack : errorInstance}\n${JSON.stringify(counterexample?.[0])}`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
