// @ts-check
/** What a list of 10,000 sessions costs, beside reading what each says of itself. */

import { promises, readFileSync } from "node:fs";
import { join } from "node:path";
import { openStore } from "../js/index.js";
import { uuidOf, template } from "../tests/js/many-sessions.js";
import { inFolder, inTurns } from "./tools.mjs";

const SESSIONS = 10_000;
const SHOWN_SESSIONS = 20;
const MESSAGES = 6;

/** @type {import("../scripts/bench.mjs").Bench} */
export default {
  title: `a list of ${SESSIONS.toLocaleString("en")} sessions in the home, each time in a store opened for it`,
  run: () => inFolder(measure),
};

/** @param {string} folder */
async function measure(folder) {
  const home = join(folder, "home");
  const paths = await makeSessions(home, folder);
  const listed = async (/** @type {import("../js/types/index.js").ListOptions} */ options) => {
    const store = await openStore({ home, project: folder });
    const { length } = await store.list(options);
    if (length !== (options.limit ?? SESSIONS))
      throw new Error(`expected ${options.limit ?? SESSIONS} sessions, but found ${length} instead`);
    await store.close();
  };
  // The first one makes the index.
  const start = performance.now();
  await listed({ all: true });
  const first = (performance.now() - start) / 1000;
  const once = (/** @type {() => unknown} */ work) => ({ times: 1, once: work });
  const cost = await inTurns(
    {
      awaited: once(async () => {
        for (const path of paths) JSON.parse(await promises.readFile(path, "utf8"));
      }),
      plain: once(() => {
        for (const path of paths) JSON.parse(readFileSync(path, "utf8"));
      }),
      some: once(() => listed({ limit: SHOWN_SESSIONS })),
      all: once(() => listed({ all: true })),
      unverified: once(() => listed({ all: true, verify: false })),
    },
    { rounds: 9 },
  );
  const { awaited = NaN, plain = NaN, some = NaN, all = NaN, unverified = NaN } = cost;
  const ms = (/** @type {number} */ us) => ({ value: us / 1000, unit: "ms" });
  return [
    {
      what: `first ${SHOWN_SESSIONS}, verified, to fs.promises.readFile of each`,
      value: some / awaited,
      unit: "times",
      atMost: 0.1,
    },
    { what: "all, verified, to the same", value: all / awaited, unit: "times", atMost: 0.5 },
    { what: "all, unverified, to the same", value: unverified / awaited, unit: "times", atMost: 0.1 },
    { what: `first ${SHOWN_SESSIONS}, verified, to readFileSync of each`, value: some / plain, unit: "times" },
    { what: "all, verified, to the same", value: all / plain, unit: "times" },
    { what: "all, unverified, to the same", value: unverified / plain, unit: "times" },
    { what: "fs.promises.readFile and JSON.parse of each", ...ms(awaited) },
    { what: "readFileSync and JSON.parse of each", ...ms(plain) },
    { what: `first ${SHOWN_SESSIONS}, verified`, ...ms(some) },
    { what: "all, verified", ...ms(all) },
    { what: "all, unverified", ...ms(unverified) },
    { what: "without an index, which makes it", value: first, unit: "s" },
  ];
}

/** Gives the documents of all. @param {string} home @param {string} project */
async function makeSessions(home, project) {
  const store = await openStore({ home, project, countTokens: false });
  const session = await store.create({ title: "the one that the others are copies of", model: "gpt-5" });
  for (let n = 0; n < MESSAGES; n += 1)
    await session.append({ role: n % 2 ? "assistant" : "user", content: `message ${n}` });
  await session.stop({ summary: "as far as it went" });
  await store.close();
  const { write, parent } = template(session);
  const paths = [join(session.path, "metadata.json")];
  for (let n = 1; n < SESSIONS; n += 1) {
    const path = join(parent, `session-${uuidOf(n)}`);
    // Not in the order of their names.
    write({
      path,
      id: uuidOf(n),
      at: Date.now() - 60_000 - ((n * 7919) % SESSIONS) * 1000,
      title: `session ${n}, about something`,
    });
    paths.push(join(path, "metadata.json"));
  }
  return paths;
}
