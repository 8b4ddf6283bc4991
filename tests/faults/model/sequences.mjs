// @ts-check
// A process that tries sequences: of a seed, so many, in memory or on a disk. One that fails is shortened.

import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { setImmediate as nextTurn } from "node:timers/promises";
import fc from "fast-check";

import { scene } from "../tools.mjs";
import { Run } from "./run.mjs";
import { inMemory, onDisk, placesIn } from "./world.mjs";

/** How often each step is taken. @type {Record<string, number>} */
const OFTEN = {
  create: 6,
  append: 10,
  appendTool: 3,
  stop: 2,
  pause: 1,
  complete: 2,
  resume: 3,
  rename: 2,
  archive: 2,
  unarchive: 2,
  pin: 2,
  unpin: 1,
  setAgent: 1,
  flush: 1,
  fork: 2,
  delete: 2,
  relocate: 2,
  import: 3,
  edit: 4,
  deleteDerived: 2,
  close: 3,
  crash: 2,
  jump: 4,
  list: 4,
  find: 2,
  continue: 2,
  current: 1,
  together: 2,
};
const LONGEST = 16;
const TELL_EVERY = 20;

const pick = fc.record({
  step: fc.constantFrom(...Object.entries(OFTEN).flatMap(([step, often]) => Array(often).fill(step))),
  by: fc.nat(1),
  which: fc.nat(63),
  n: fc.nat(63),
});

const [folder = "", plan = "{}"] = process.argv.slice(2);
const { seed, count, isOnDisk } = JSON.parse(plan);
// Git is another suite's: without one, no process is started for each store.
process.env.PATH = "";
const told = { sequences: 0, steps: 0 };
const tell = (/** @type {object} */ more = {}) => console.log(JSON.stringify({ ...told, ...more }));

/** @param {(picks: any[]) => Promise<void>} work */
async function checkSequences(work) {
  const run = async (/** @type {any[]} */ picks) => {
    await work(picks);
    // In memory nothing waits for the system; but what the core holds for a session is freed between turns only.
    await nextTurn();
    told.sequences += 1;
    if (told.sequences % TELL_EVERY === 0) tell();
  };
  const property = fc.asyncProperty(fc.array(pick, { minLength: 1, maxLength: LONGEST, size: "max" }), run);
  const { failed, counterexample, errorInstance } = await fc.check(property, { seed, numRuns: count });
  tell(
    failed
      ? {
          seed,
          picks: counterexample?.[0],
          error: errorInstance instanceof Error ? errorInstance.stack : String(errorInstance),
        }
      : { isDone: true },
  );
}

mkdirSync(folder, { recursive: true });
if (isOnDisk) {
  await scene(
    "model",
    async ({ folder: parent, start }) => {
      let number = 0;
      const next = () => placesIn(join(parent, String((number += 1))));
      const world = onDisk(next(), start);
      await checkSequences(async (picks) => {
        world.moveTo(next());
        const run = new Run(world);
        await run.runAll(picks).finally(() => (told.steps += run.taken));
        rmSync(join(world.places.home, ".."), { recursive: true });
      });
    },
    folder,
  );
} else {
  const places = placesIn(folder);
  await checkSequences(async (picks) => {
    const run = new Run(inMemory(places));
    await run.runAll(picks).finally(() => (told.steps += run.taken));
  });
}
