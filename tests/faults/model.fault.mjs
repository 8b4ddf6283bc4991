// @ts-check
/** Random sequences of what one does with a store, beside a model of it; in memory most of them, some on a disk. */
// Tries: js/store/store.js, js/session/session.js, src/operation/store/

import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { IN_MEMORY } from "./hostile-home.mjs";
import { chance, scene } from "./tools.mjs";

const sequences = fileURLToPath(new URL("model/sequences.mjs", import.meta.url));
const WHOLE = 100_000;
/** On a disk, by two processes that are killed. */
const ON_DISK = 2000;
/** Processes at a time that try sequences. */
const SHARES = 2;

/** @type {import("../../scripts/faults.mjs").Fault} */
export default {
  title:
    "what a store says after any sequence of calls, by two processes, crashes and edits between, is what a model of it knows",
  async run({ scaled, seed }) {
    const random = chance(seed);
    const counts = { sequences: 0, steps: 0, "of them on a disk": 0 };
    await scene(
      "model",
      async ({ folder, start }) => {
        for (const { whole, isOnDisk } of [
          { whole: WHOLE - ON_DISK, isOnDisk: false },
          { whole: ON_DISK, isOnDisk: true },
        ]) {
          const count = Math.ceil(scaled(whole) / SHARES);
          const tried = await Promise.all(
            Array.from({ length: SHARES }, async (_, share) => {
              const plan = JSON.stringify({ seed: random.below(2 ** 31), count, isOnDisk });
              const { said, ended } = start(process.execPath, [
                "--no-warnings",
                sequences,
                join(folder, `${isOnDisk}-${share}`),
                plan,
              ]);
              const { stderr } = await ended;
              return { last: said.at(-1), plan, stderr };
            }),
          );
          for (const { last, plan, stderr } of tried) {
            if (!last?.isDone) throw new Error(failure(plan, last, stderr));
            counts.sequences += last.sequences;
            counts.steps += last.steps;
            if (isOnDisk) counts["of them on a disk"] += last.sequences;
          }
        }
      },
      IN_MEMORY,
    );
    return counts;
  },
};

/**
 * The shortest sequence that fails, and how to try it again.
 * @param {string} plan
 * @param {any} last
 * @param {string} stderr
 */
function failure(plan, last, stderr) {
  const again = `node tests/faults/model/sequences.mjs <folder> '${plan}'`;
  const picks = (last?.picks ?? []).map((/** @type {any} */ pick) => `  ${JSON.stringify(pick)}`).join("\n");
  return `${last?.error ?? "the process that tried ended"}\n${stderr}after these steps, of seed ${JSON.parse(plan).seed}; again with: ${again}\n${picks}`;
}
