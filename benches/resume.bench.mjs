// @ts-check
/**
 * Resuming a long conversation beside one of a hundredth: what is handed over is the same, and so should be what it
 * costs.
 */

import { join } from "node:path";
import { openStore } from "../js/index.js";
import { root } from "../scripts/run.mjs";
import { fillLog, indexWords } from "./filled-log.mjs";
import { inFolder, inNode, inTurns, median } from "./tools.mjs";

const SMALL = 10_000_000;
const LARGE = 1_000_000_000;
const WINDOW = 32_768;
const COMMANDS = 15;
const REQUEST = {
  window: WINDOW,
  encoding: "estimate-1",
  now: { promptHash: null, model: "m", window: WINDOW, tools: [] },
};

/** @type {import("../scripts/bench.mjs").Bench} */
export default {
  title: `resuming ${LARGE / 1e9} GB, beside ${SMALL / 1e6} MB, for a window of ${WINDOW.toLocaleString("en")} tokens`,
  run: () => inFolder(measure),
};

/** @param {string} folder */
async function measure(folder) {
  const [small, large] = [await fillLog(join(folder, "small"), SMALL), await fillLog(join(folder, "large"), LARGE)];
  const once = (/** @type {() => unknown} */ work) => ({ times: 1, once: work });
  // A question about what the index of words does not have yet reads two megabytes on, and a gigabyte takes hundreds of
  // them.
  const { growing = NaN } = await inTurns({ growing: once(() => fresh(large)) }, { rounds: 11 });
  for (const home of [small, large]) await indexWords(home);
  const [ofSmall, ofLarge] = [await openHome(small), await openHome(large)];
  const cost = await inTurns(
    {
      small: once(() => ofSmall.session.resume(REQUEST)),
      large: once(() => ofLarge.session.resume(REQUEST)),
      smallOpened: once(() => fresh(small)),
      largeOpened: once(() => fresh(large)),
    },
    { rounds: 41 },
  );
  const { messageCount } = ofSmall.session.metadata.stats;
  for (const { store } of [ofSmall, ofLarge]) await store.close();
  const { small: least = NaN, large: most = NaN, smallOpened = NaN, largeOpened = NaN } = cost;
  return [
    { what: "a session that is open resumed, 1 GB to 10 MB", value: most / least, unit: "times", atMost: 1.2 },
    { what: "  at 10 MB", value: least / 1000, unit: "ms" },
    { what: "  at 1 GB", value: most / 1000, unit: "ms" },
    {
      what: "store and session opened, and resumed, 1 GB to 10 MB",
      value: largeOpened / smallOpened,
      unit: "times",
      atMost: 1.2,
    },
    { what: "  at 10 MB", value: smallOpened / 1000, unit: "ms" },
    { what: "  at 1 GB", value: largeOpened / 1000, unit: "ms" },
    { what: "  at 1 GB, while the index of its words grows", value: growing / 1000, unit: "ms" },
    ...onCommandLine(small, messageCount),
  ];
}

/**
 * The same as a person has it, in a process of its own: `leftoff resume ID --print`, beside Node that does nothing.
 * @param {Home} home @param {number} messages
 * @returns {import("../scripts/bench.mjs").Figure[]}
 */
function onCommandLine({ home, id }, messages) {
  const cli = join(root, "pkg", "cli.js");
  const ways = {
    bare: ["-e", ""],
    version: [cli, "--version"],
    resume: [
      cli,
      "resume",
      id,
      "--print",
      "--window",
      `${WINDOW}`,
      "--encoding",
      REQUEST.encoding,
      "--home",
      home,
      "--workspace",
      "/",
    ],
  };
  const rounds = Array.from({ length: COMMANDS }, () => ({
    bare: inNode(...ways.bare),
    version: inNode(...ways.version),
    resume: inNode(...ways.resume),
  }));
  if (rounds.some(({ resume }) => !resume.stdout.includes("[RESUMED CONVERSATION]")))
    throw new Error("expected a conversation that is resumed, but found none");
  const of = (/** @type {(round: typeof rounds[0]) => number} */ value) => median(rounds.map(value));
  return [
    {
      what: `leftoff resume ID --print, ${messages.toLocaleString("en")} messages, to bare Node: processor`,
      value: of(({ bare, resume }) => resume.processorMs / bare.processorMs),
      unit: "times",
      atMost: 12,
    },
    { what: "  the same: time", value: of(({ bare, resume }) => resume.ms / bare.ms), unit: "times", atMost: 14 },
    { what: "  leftoff resume ID --print", value: of(({ resume }) => resume.ms), unit: "ms" },
    { what: "  leftoff --version", value: of(({ version }) => version.ms), unit: "ms" },
    { what: '  node -e ""', value: of(({ bare }) => bare.ms), unit: "ms" },
  ];
}

/** @import { Home } from "./filled-log.mjs" */

/** @param {Home} home */
async function openHome({ home, id }) {
  const store = await openStore({ home, project: "/" });
  return { store, session: await store.session(id) };
}

/** @param {Home} home */
async function fresh(home) {
  const { store, session } = await openHome(home);
  const { context } = await session.resume(REQUEST);
  if (context.includedMessageCount >= context.originalMessageCount)
    throw new Error("expected a log that is larger than the window");
  await store.close();
}
