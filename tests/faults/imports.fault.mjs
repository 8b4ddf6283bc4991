// @ts-check
/** Whoever imports a growing file, and however many at once: the session is that of one import of its end. */
// Tries: src/operation/store/import/, src/interop/import_diff.rs

import { HOOKS, IMPORTS, raceReaders } from "./growing.mjs";
import { chance, scene } from "./tools.mjs";

/** @type {import("../../scripts/faults.mjs").Fault} */
export default {
  title: `${HOOKS} hooks and ${IMPORTS} imports of one growing file at once leave what one import of its end leaves`,
  async run({ scaled, seed }) {
    const runs = scaled(50);
    let messages = 0;
    for (let at = 0; at < runs; at += 1)
      messages += await scene("imports", ({ folder }) => raceReaders(folder, chance(seed * 1000 + at)));
    return { runs, processes: runs * (HOOKS + IMPORTS + 1), messages };
  },
};
