// @ts-check
// A session held in one client is imported, written for another one, and resumed there by the real client as its own.

import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { openStore } from "../../js/index.js";
import { scene } from "../faults/tools.mjs";
import { IN_CI, MORE } from "./clients.mjs";
import { held, resumed, seat } from "./holding.mjs";
import { expected, marked } from "./talk.mjs";

/** @import { Suite } from "../../scripts/suites.mjs" */
/** @import { Client } from "./driving.mjs" */
/** @import { Turn } from "./model/turns.mjs" */
/** @import { Prompt } from "./talk.mjs" */

const LAST = "And now? 🏁";

/** @typedef {{ client: Client, program: string }} Present */
/** @typedef {Present & { file: string, talk: Prompt[] }} Held */

/** @type {Suite} */
export default {
  title: "a session of any client goes on in another one, with each text, call and result once, in order, as real turns",
  async run({ all: hasAll }) {
    const clients = hasAll ? [...IN_CI, ...MORE] : IN_CI;
    const present = clients.flatMap((client) => {
      const program = client.program();
      return program === null ? [] : [{ client, program }];
    });
    return scene("ring", async ({ folder }) => {
      const sessions = await settled(present.map((one) => hold(one, join(folder, one.client.agent))));
      /** @type {[Held, Present][]} */
      const pairs = sessions.flatMap((from) => present.filter(({ client }) => isPaired(from, client, present)).map((to) => /** @type {[Held, Present]} */ ([from, to])));
      await settled(pairs.map(([from, to]) => resumedElsewhere(from, to, join(folder, `${from.client.agent}-${to.client.agent}`))));
      return { sessions: sessions.length, pairs: pairs.map(([from, to]) => `${from.client.agent} in ${to.client.agent}`).join(", ") };
    });
  },
};

// Whoever fails, the others' processes have ended then.
/** @template T @param {Promise<T>[]} work @returns {Promise<T[]>} */
async function settled(work) {
  const all = await Promise.allSettled(work);
  const errors = all.flatMap((one) => (one.status === "rejected" ? [one.reason] : []));
  if (errors.length > 0) throw new AggregateError(errors, `${errors.length} of ${work.length}`);
  return all.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
}

// Each pair of those that CI drives, and each in the next one.
/** @param {Held} from @param {Client} to @param {Present[]} present */
function isPaired(from, to, present) {
  if (IN_CI.includes(from.client) && IN_CI.includes(to)) return from.client !== to;
  const ring = present.map(({ client }) => client);
  return ring[(ring.indexOf(from.client) + 1) % ring.length] === to;
}

/** @param {Present} present @param {string} folder @returns {Promise<Held>} */
async function hold({ client, program }, folder) {
  mkdirSync(folder);
  const at = seat(program, folder);
  const { id, talk } = await held(client, at);
  return { client, program, talk, file: await client.fileOf(at, id) };
}

/** @param {Held} from @param {Present} to @param {string} folder */
async function resumedElsewhere(from, { client, program }, folder) {
  mkdirSync(folder);
  const at = seat(program, folder);
  const store = await openStore({ home: join(folder, "leftoff"), project: at.project });
  try {
    const { imported: [one], problems } = await store.import(from.file);
    assert.deepEqual(problems, [], from.client.name);
    // Its settings, in which OpenCode's model would be found, are written when the server is there.
    const model = client.agent === "opencode" ? { model: "script/script" } : {};
    const handed = await store.handOver(await store.session(/** @type {string} */ (one?.id)), { agent: client.agent, window: 1_000_000, env: { HOME: at.home }, ...model });
    await client.take?.(at, handed.path);
    const told = await resumed(client, at, { id: handed.id, prompt: LAST });
    /** @type {Turn[]} */
    const wanted = [...expected(from.talk), { role: "user", text: LAST }];
    assert.deepEqual(alike(marked(told, wanted)), alike(wanted), `${from.client.name} in ${client.name}`);
  } finally {
    await store.close();
  }
}

// Ids are mended by each provider's rule, and a tool that takes any text has an object around it where another one does not.
/** @param {Turn[]} turns */
function alike(turns) {
  /** @type {string[]} */
  const ids = [];
  const number = (/** @type {string} */ id) => {
    if (!ids.includes(id)) ids.push(id);
    return ids.indexOf(id);
  };
  return turns.map(({ calls, results, ...turn }) => ({
    ...turn,
    calls: (calls ?? []).map(({ id, name, input }) => ({ id: number(id), name, input: bare(input) })),
    results: (results ?? []).map(({ id, text }) => ({ id: number(id), text })),
  }));
}

/** @param {any} input */
function bare(input) {
  const [only, ...others] = typeof input === "object" && input !== null ? Object.values(input) : [input];
  return others.length === 0 && typeof only === "string" ? only : input;
}
