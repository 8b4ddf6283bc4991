// @ts-check
/** Saving and loading tool outputs, to what that cannot do without: JSON, and a file. */

import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { openStore } from "../js/index.js";
import { inFolder, inTurns, prose } from "./tools.mjs";

/** What tools give: a text, or many matches. @type {[what: string, result: unknown, times: number][]} */
const RESULTS = [32, 256, 2048, 10_240].flatMap((kilobytes) => [
  [`${sizeLabel(kilobytes)} of text`, prose(kilobytes * 1024), kilobytes < 1000 ? 100 : 5],
  [`${sizeLabel(kilobytes)} of matches`, matches(kilobytes * 1024), kilobytes < 1000 ? 100 : 5],
]);

/** @type {import("../scripts/bench.mjs").Bench} */
export default {
  title: "tool outputs, to JSON.stringify and writeFile, readFile and JSON.parse",
  run: () =>
    inFolder(async (folder) => {
      const store = await openStore({ home: join(folder, "home"), project: folder });
      const figures = [];
      for (const [what, result, times] of RESULTS)
        figures.push(...(await measureOutput(store, folder, { what, result, times })));
      await store.close();
      return figures;
    }),
};

/**
 * @param {import("../js/index.js").Store} store
 * @param {string} folder
 * @param {{ what: string, result: unknown, times: number }} of
 */
async function measureOutput(store, folder, { what, result, times }) {
  const output = { sessionId: "session-abc123", toolName: "grep", args: { pattern: "line" } };
  /** @type {string[]} */
  const written = [];
  const cleared = async () => {
    await Promise.all([store.outputs.clear(), ...written.splice(0).map((path) => rm(path))]);
  };
  let nth = 0;
  const saving = await inTurns(
    {
      plain: {
        times,
        once: () =>
          writeFile(
            (written[written.length] = join(folder, `${(nth += 1)}.json`)),
            JSON.stringify({ ...output, result }),
          ),
        after: cleared,
      },
      ours: { times, once: () => store.outputs.save({ ...output, result }), after: cleared },
    },
    { rounds: 9 },
  );
  const plain = join(folder, "plain.json");
  await writeFile(plain, JSON.stringify({ ...output, result }));
  const { path } = await store.outputs.save({ ...output, result });
  const loading = await inTurns(
    {
      plain: { times, once: async () => JSON.parse(await readFile(plain, "utf8")) },
      ours: { times, once: () => store.outputs.load(path) },
    },
    { rounds: 9 },
  );
  await cleared();
  const ratio = (/** @type {Record<string, number>} */ { ours = NaN, plain: other = NaN }) => ({
    value: ours / other,
    unit: "times",
    atMost: 1.3,
  });
  return [
    { what: `save ${what}`, ...ratio(saving) },
    { what: `load ${what}`, ...ratio(loading) },
  ];
}

/** @param {number} kilobytes */
function sizeLabel(kilobytes) {
  return kilobytes < 1024 ? `${kilobytes} KB` : `${kilobytes / 1024} MB`;
}

/** As a search gives them. @param {number} bytes */
function matches(bytes) {
  const one = (/** @type {number} */ nth) => ({
    file: `src/folder${nth % 97}/file${nth}.ts`,
    line: nth,
    text: 'const a = "x"; // TODO: mend this before the release',
  });
  return Array.from({ length: Math.ceil(bytes / JSON.stringify(one(10_000)).length) }, (_, nth) => one(nth));
}
