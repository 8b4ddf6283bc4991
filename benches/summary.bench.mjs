// @ts-check
/**
 * A summary by a model that answers at once: what leftoff itself takes for it, and how often that calls into the core.
 */

import { join } from "node:path";
import { countTokens, openStore } from "../js/index.js";
import { Module } from "../js/wasm/module.js";
import { turnAbout } from "../tests/js/long-session.js";
import { inFolder, inTurns } from "./tools.mjs";

const TURNS = 1000;
const WINDOW = 16_000;
const ROUNDS = 21;

/** @typedef {import("../js/index.js").Session} Session */

/** @type {import("../scripts/bench.mjs").Bench} */
export default {
  title: `the first context of ${(2 * TURNS).toLocaleString("en")} messages, for a window of ${WINDOW.toLocaleString("en")} tokens`,
  run: () => inFolder(measure),
};

/** @param {string} folder */
async function measure(folder) {
  await countTokens("a");
  const store = await openStore({ home: join(folder, "home"), project: folder });
  const drafts = Array.from({ length: TURNS }, (_, turn) => turnAbout(`file ${turn}`)).flat();
  // A summary is kept, and is made once: each context is the first one of a session of its own.
  /** @type {Record<"modeled" | "ruled", Session[]>} */
  const waiting = { modeled: [], ruled: [] };
  for (let n = 0; n <= ROUNDS + 1; n += 1) {
    for (const sessions of Object.values(waiting)) {
      const session = await store.create();
      await session.append(drafts, { durability: "buffered" });
      sessions.push(session);
    }
  }
  let requests = 0;
  const summarize = () => ((requests += 1), "They looked at files, one after another.");
  const modeled = () => takeSession(waiting.modeled).context({ window: WINDOW, summarize, frame: false });
  const ruled = () => takeSession(waiting.ruled).context({ window: WINDOW, frame: false });
  const calls = { modeled: await countCalls(modeled), ruled: await countCalls(ruled) };
  const asked = requests;
  const cost = await inTurns(
    { modeled: { times: 1, once: modeled }, ruled: { times: 1, once: ruled } },
    { rounds: ROUNDS },
  );
  await store.close();
  const { modeled: model = NaN, ruled: rules = NaN } = cost;
  return [
    { what: "by a model, to one by the rules", value: model / rules, unit: "times", atMost: 2 },
    { what: "calls into the core", value: calls.modeled, unit: "", atMost: 90 },
    { what: "  for each request to the model", value: (calls.modeled - calls.ruled) / asked, unit: "", atMost: 2 },
    { what: "requests to the model", value: asked, unit: "" },
    { what: "calls into the core by the rules", value: calls.ruled, unit: "" },
    { what: "by a model", value: model / 1000, unit: "ms" },
    { what: "by the rules", value: rules / 1000, unit: "ms" },
  ];
}

/** @param {Session[]} sessions */
function takeSession(sessions) {
  const session = sessions.shift();
  if (!session) throw new Error("expected a session that has no context yet, but found none");
  return session;
}

/** How often it calls into the core. @param {() => Promise<unknown>} work */
async function countCalls(work) {
  const { call: called } = Module.prototype;
  let calls = 0;
  /** @this {Module<any>} @param {(bindings: any) => any} call */
  function counting(call) {
    calls += 1;
    return called.call(this, call);
  }
  Module.prototype.call = /** @type {any} */ (counting);
  try {
    await work();
    return calls;
  } finally {
    Module.prototype.call = called;
  }
}
