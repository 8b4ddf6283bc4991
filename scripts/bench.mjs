// @ts-check
// `npm run bench`: measures costs, as ratios to the work that cannot be avoided, in one run. All benches, or
// `-- append big-log`. `-- viewer --messages 10000` takes a shorter session. Fails where a limit is exceeded.

import { readdirSync } from "node:fs";
import { cpus, release, totalmem, type } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { fail, root, seconds } from "./run.mjs";

/**
 * A bench: `benches/<name>.bench.mjs` exports it as default.
 * @typedef {object} Bench
 * @property {string} title
 * @property {(size: { messages?: number }) => Promise<Figure[]>} run
 *
 * @typedef {object} Figure
 * @property {string} what
 * @property {number} value
 * @property {string} unit
 * @property {number} [atMost] the limit that the project sets itself
 * @property {number} [atLeast]
 * @property {number} [aim] the goal beyond the limit
 */

const folder = join(root, "benches");
const { positionals: names, values } = parseArgs({ allowPositionals: true, options: { messages: { type: "string" } } });
const messages = values.messages === undefined ? undefined : Number(values.messages);
const found = readdirSync(folder)
  .filter((name) => name.endsWith(".bench.mjs"))
  .map((name) => name.slice(0, -".bench.mjs".length));
const unknown = names.find((name) => !found.includes(name));
if (unknown) fail(`expected ${found.join(", ")}, but found ${unknown} instead`);

console.log(
  `${type()} ${release()}, Node ${process.versions.node}, ${cpus().length} x ${cpus()[0]?.model}, ${Math.round(totalmem() / 2 ** 30)} GiB`,
);
let exceeded = 0;
for (const name of found.filter((name) => names.length === 0 || names.includes(name))) {
  const { default: bench } = /** @type {{ default: Bench }} */ (await import(join(folder, `${name}.bench.mjs`)));
  const start = performance.now();
  const figures = await bench.run({ messages });
  console.log(`\n${name}: ${bench.title} (${seconds(start)})`);
  for (const figure of figures) {
    const { what, value, unit, atMost = Infinity, atLeast = -Infinity, aim } = figure;
    const holds = value <= atMost && value >= atLeast;
    if (!holds) exceeded += 1;
    const limit = atMost < Infinity ? `at most ${atMost}` : atLeast > -Infinity ? `at least ${atLeast}` : "";
    const wanted = aim === undefined ? limit : `${limit}, aim ${aim}`;
    console.log(
      `  ${holds ? "  " : "! "}${what.padEnd(58)} ${formatFigure(value).padStart(10)} ${unit.padEnd(6)} ${wanted}`,
    );
  }
}
if (exceeded > 0) fail(`${exceeded} limits were exceeded`);

/** @param {number} value */
function formatFigure(value) {
  return value >= 100 ? Math.round(value).toLocaleString("en") : value.toPrecision(3);
}
