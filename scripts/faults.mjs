// @ts-check
// `npm run test:faults`: injects the faults of real machines. Every suite whole, or a part of each with
// `-- --scale 0.01`; only some with `-- kill power-cut`; another sequence with `-- --seed 7`.

import { join } from "node:path";
import { root } from "./run.mjs";
import { parseOptions, suites } from "./suites.mjs";

/** @import { SuiteOptions, Suite } from "./suites.mjs" */

/** @typedef {Suite} Fault */

/** @param {SuiteOptions} options */
export function faults(options) {
  return suites({ folder: "faults", kind: "fault" }, options);
}

if (process.argv[1] === join(root, "scripts", "faults.mjs")) {
  const { failed } = await faults(parseOptions({ scale: "1" }));
  process.exitCode = failed > 0 ? 1 : 0;
}
