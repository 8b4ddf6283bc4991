// @ts-check
// Scripts by chance: the same time and chance give the same answers and bytes, from JavaScript and from Rust, whatever
// other stores and processes do between.
// `LEFTOFF_SCALE=1` tries 1,000, `LEFTOFF_SEED` the same ones again.
// Tries: js/wasm/clock.js, src/fs/clock.rs, src/operation/
import assert from "node:assert/strict";
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import fc from "fast-check";

import { differing } from "../conformance/scripting/differences.mjs";
import { interrupted, scripts } from "../conformance/scripting/random.mjs";
import { runScript } from "../conformance/scripting/run.mjs";
import { inRust } from "../conformance/scripting/rust.mjs";

const SCRIPTS = Math.max(1, Math.round(1000 * Number(process.env.LEFTOFF_SCALE ?? 0.02)));
const SEED = Number(process.env.LEFTOFF_SEED ?? Date.now() % 2 ** 31);

/** @typedef {{ steps: import("../conformance/scripting/run.mjs").Step[] }} Script */

/** @template T @param {import("fast-check").Arbitrary<T>} of @param {(script: T) => Promise<void>} work */
async function checkProperty(of, work) {
  const { failed, counterexample, errorInstance } = await fc.check(fc.asyncProperty(of, work), {
    seed: SEED,
    numRuns: SCRIPTS,
  });
  if (failed)
    assert.fail(
      `${errorInstance instanceof Error ? errorInstance.stack : errorInstance}\n${JSON.stringify(counterexample?.[0])}`,
    );
}

/**
 * The same folder for each, since its path is in files and in what they hash to.
 * @param {(options: { seed: string, made: string }) => Promise<void>} work
 */
async function inOnePlace(work) {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "leftoff-random-")));
  try {
    await work({ seed: "random", made: join(folder, "same") });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

test(`equal time and chance give equal answers and bytes: ${SCRIPTS} scripts of the seed ${SEED}`, () =>
  inOnePlace((options) =>
    checkProperty(scripts, async (/** @type {Script} */ script) => {
      const { answers, files } = await runScript(script, options);
      const differs = differing({ tries: "", ...script, answers, files }, await runScript(script, options));
      if (differs) assert.fail(differs);
    }),
  ));

test(`Rust gives the same answers and bytes as JavaScript: ${SCRIPTS} scripts of the seed ${SEED}`, () =>
  inOnePlace((place) => {
    const on = inRust();
    // Each host draws as often as it likes; what is made by chance is masked.
    const options = { ...place, isMasked: true };
    return checkProperty(scripts, async (/** @type {Script} */ script) => {
      const { answers, files } = await runScript(script, options);
      const differs = differing({ tries: "", ...script, answers, files }, await runScript(script, { ...options, on }));
      if (differs) assert.fail(differs);
    });
  }));

test(`whatever others append while an operation is under way, nothing of theirs or ours is lost: ${SCRIPTS} scripts of the seed ${SEED}`, () =>
  checkProperty(interrupted, async (/** @type {Script} */ script) => {
    const { whole, came } = await runScript(script, { seed: "interrupted" });
    /** What each session should have. @type {Map<string, Set<string>>} */
    const expected = new Map();
    const note = (/** @type {string} */ session, /** @type {string[]} */ ids) =>
      expected.set(session, new Set([...(expected.get(session) ?? []), ...ids]));
    for (const { file, lines } of came)
      note(
        String(/<(?:other-)?(.*?)>/.exec(file)?.[1]),
        lines.map((/** @type {any} */ { id }) => id),
      );
    script.steps.forEach(({ op, session = "" }, place) => {
      if (op === "append" && whole[place]?.records)
        note(
          session.replace("other-", ""),
          whole[place].records.map((/** @type {any} */ { id }) => id),
        );
      if (op !== "messages" || !session.startsWith("last-")) return;
      const name = session.slice("last-".length);
      const found = new Set(whole[place].map((/** @type {any} */ { id }) => id));
      const lost = [...(expected.get(name) ?? [])].filter((id) => !found.has(id));
      assert.deepEqual(lost, [], `${name} lost some`);
    });
  }));
