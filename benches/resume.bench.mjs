// @ts-check
/** Resuming a long conversation beside one of a hundredth: what is handed over is the same, and so should be what it costs. */

import { statSync } from "node:fs";
import { join } from "node:path";
import { openStore } from "../js/index.js";
import { conversation } from "./conversation.mjs";
import { inFolder, inTurns } from "./tools.mjs";

const SMALL = 10_000_000;
const LARGE = 1_000_000_000;
const WINDOW = 32_768;
const BATCH = 1000;
/** So many batches differ. */
const DIFFERENT = 10;
const REQUEST = { window: WINDOW, encoding: "estimate-1", now: { promptHash: null, model: "m", window: WINDOW, tools: [] } };

/** @type {import("../scripts/bench.mjs").Bench} */
export default {
  title: `resuming ${LARGE / 1e9} GB, beside ${SMALL / 1e6} MB, for a window of ${WINDOW.toLocaleString("en")} tokens`,
  run: () => inFolder(measure),
};

/** @param {string} folder */
async function measure(folder) {
  const [small, large] = [await filled(join(folder, "small"), SMALL), await filled(join(folder, "large"), LARGE)];
  const [ofSmall, ofLarge] = [await opened(small), await opened(large)];
  const once = (/** @type {() => unknown} */ work) => ({ times: 1, once: work });
  const cost = await inTurns(
    {
      small: once(() => ofSmall.session.resume(REQUEST)),
      large: once(() => ofLarge.session.resume(REQUEST)),
      smallOpened: once(() => fresh(small)),
      largeOpened: once(() => fresh(large)),
    },
    { rounds: 41 },
  );
  for (const { store } of [ofSmall, ofLarge]) await store.close();
  const { small: least = NaN, large: most = NaN, smallOpened = NaN, largeOpened = NaN } = cost;
  return [
    { what: "a session that is open resumed, 1 GB to 10 MB", value: most / least, unit: "times", atMost: 1.2 },
    { what: "  at 10 MB", value: least / 1000, unit: "ms" },
    { what: "  at 1 GB", value: most / 1000, unit: "ms" },
    { what: "store and session opened, and resumed, 1 GB to 10 MB", value: largeOpened / smallOpened, unit: "times", atMost: 1.2 },
    { what: "  at 10 MB", value: smallOpened / 1000, unit: "ms" },
    { what: "  at 1 GB", value: largeOpened / 1000, unit: "ms" },
  ];
}

/** @typedef {{ home: string, id: string }} Home */

/** @param {Home} home */
async function opened({ home, id }) {
  const store = await openStore({ home, project: "/" });
  return { store, session: await store.session(id) };
}

/** @param {Home} home */
async function fresh(home) {
  const { store, session } = await opened(home);
  const { context } = await session.resume(REQUEST);
  if (context.includedMessageCount >= context.originalMessageCount) throw new Error("expected a log that is larger than the window");
  await store.close();
}

/** A session whose log has so many bytes. @param {string} home @param {number} bytes @returns {Promise<Home>} */
async function filled(home, bytes) {
  const store = await openStore({ home, project: "/", countTokens: false });
  const session = await store.create({ agent: { command: "/brainstorm", systemPromptHash: "sha256:00", model: "another", tools: ["Read"] } });
  const all = conversation();
  const batches = Array.from({ length: DIFFERENT }, () => Array.from({ length: BATCH }, () => all.next().value));
  const append = async (/** @type {number} */ n) => void (await session.append(batches[n % DIFFERENT] ?? [], { durability: "buffered" }));
  for (let n = 1; n === 1 || statSync(join(session.path, "messages.jsonl")).size < bytes; n += 1) await append(n);
  // Both end alike, so that what is handed over is the same.
  await append(0);
  await store.close();
  return { home, id: session.id };
}
