// @ts-check
// A session held in one client is imported, written for another one or for itself, and resumed there by the real client
// as its own.
// Tries: src/interop/native/, src/operation/store/native_export/

import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { openStore } from "../../js/index.js";
import { scene } from "../faults/tools.mjs";
import { IN_CI, present, selectClients } from "./clients.mjs";
import { holdSession, resumeSession, seat } from "./holding.mjs";
import { expectedTurns, markResults } from "./talk.mjs";

/** @import { Suite } from "../../scripts/suites.mjs" */
/** @import { Present } from "./clients.mjs" */
/** @import { Turn } from "./model/turns.mjs" */
/** @import { Prompt } from "./talk.mjs" */

const LAST = "And now? 🏁";

/** @typedef {Present & { file: string, talk: Prompt[] }} HeldSession */
/**
 * What was tried: a session held in one, resumed in the other; and why it failed.
 * @typedef {{ from: Present, to: Present, error?: unknown }} Try
 */

/** @type {Suite} */
export default {
  title:
    "a session of any client goes on in another one and in its own, with each text, call and result once, in order, as real turns",
  async run({ all: hasAll }) {
    const tries = await ring(present(selectClients({ all: hasAll })));
    const errors = tries.flatMap(({ error }) => (error === undefined ? [] : [error]));
    if (errors.length > 0) throw new AggregateError(errors, `${errors.length} of ${tries.length} pairs`);
    return { sessions: new Set(tries.map(({ from }) => from)).size, pairs: tries.map(describeTry).join(", ") };
  },
};

/**
 * Each pair of those that CI drives, and each in the next one and in itself.
 * @param {Present[]} clients
 * @param {(one: Present) => boolean} [isMeant] only pairs with such a client
 * @returns {Promise<Try[]>}
 */
export async function ring(clients, isMeant = () => true) {
  const pairs = clients
    .flatMap((from) => clients.filter((to) => isPaired(from, to, clients)).map((to) => ({ from, to })))
    .filter(({ from, to }) => isMeant(from) || isMeant(to));
  return scene("ring", async ({ folder }) => {
    // A client is at its start most of the time; so all are held at once, and all are resumed at once. Nobody goes
    // before the last one has ended.
    const sources = clients.filter((one) => pairs.some(({ from }) => from === one));
    const held = await Promise.allSettled(sources.map((one) => hold(one, join(folder, one.client.agent))));
    const tried = await Promise.allSettled(
      pairs.map(async ({ from, to }) => {
        const session = held[sources.indexOf(from)];
        if (session?.status !== "fulfilled") throw session?.reason;
        await resumedElsewhere(session.value, to, join(folder, `${from.client.agent}-${to.client.agent}`));
      }),
    );
    return pairs.map((pair, at) => ({ ...pair, error: /** @type {PromiseRejectedResult} */ (tried[at]).reason }));
  });
}

/** What was tried, in words. @param {Try} pair */
export function describeTry({ from, to }) {
  return `${from.client.agent} in ${to.client.agent}`;
}

/** @param {Present} from @param {Present} to @param {Present[]} clients */
function isPaired(from, to, clients) {
  if (from === to || (IN_CI.includes(from.client) && IN_CI.includes(to.client))) return true;
  return clients[(clients.indexOf(from) + 1) % clients.length] === to;
}

/** @param {Present} present @param {string} folder @returns {Promise<HeldSession>} */
async function hold(present, folder) {
  mkdirSync(folder);
  const { client, program } = present;
  const at = seat(program, folder);
  const { id, talk } = await holdSession(client, at);
  return { ...present, talk, file: await client.fileOf(at, id) };
}

/** @param {HeldSession} from @param {Present} to @param {string} folder */
async function resumedElsewhere(from, { client, program }, folder) {
  mkdirSync(folder);
  const at = seat(program, folder);
  const store = await openStore({ home: join(folder, "leftoff"), project: at.project });
  try {
    const {
      imported: [one],
      problems,
    } = await store.import(from.file);
    assert.deepEqual(problems, [], from.client.name);
    // Its settings, in which OpenCode's model would be found, are written when the server is there.
    const model = client.agent === "opencode" ? { model: "script/script" } : {};
    const handed = await store.writeForAgent(await store.session(/** @type {string} */ (one?.id)), {
      agent: client.agent,
      window: 1_000_000,
      env: { HOME: at.home },
      ...model,
    });
    await client.take?.(at, handed.path);
    const told = await resumeSession(client, at, { id: handed.id, prompt: LAST });
    /** @type {Turn[]} */
    const wanted = [...expectedTurns(from.talk), { role: "user", text: LAST }];
    assert.deepEqual(
      normalizeTurns(markResults(told, wanted)),
      normalizeTurns(wanted),
      `${from.client.name} in ${client.name}`,
    );
  } finally {
    await store.close();
  }
}

// Ids are mended by each provider's rule, and a tool that takes any text has an object around it where another one does
// not.
/** @param {Turn[]} turns */
function normalizeTurns(turns) {
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
