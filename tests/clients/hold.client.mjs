// @ts-check
// In each client a session is held, and resumed by that client itself: what the model is told of it then is the yardstick
// for sessions that are resumed elsewhere.

import assert from "node:assert/strict";
import { copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { scene } from "../faults/tools.mjs";
import { IN_CI, MORE } from "./clients.mjs";
import { held, resumed, seat } from "./holding.mjs";
import { expected, marked, once } from "./talk.mjs";

/** @import { Suite } from "../../scripts/suites.mjs" */
/** @import { Client } from "./driving.mjs" */
/** @import { Turn } from "./model/turns.mjs" */

const LAST = "And now? 🏁";

/** @type {Suite} */
export default {
  title: "a session that a client resumes holds each text, call and result once, in order, as real turns",
  async run({ all: hasAll }) {
    const clients = hasAll ? [...IN_CI, ...MORE] : IN_CI;
    // A client is at its start most of the time, on one core; so all are held at once.
    const all = await Promise.allSettled(clients.map(tried));
    const errors = all.flatMap((one) => (one.status === "rejected" ? [one.reason] : []));
    if (errors.length > 0) throw new AggregateError(errors, `${errors.length} of ${clients.length} clients`);
    return Object.fromEntries(all.flatMap((one) => (one.status === "fulfilled" ? [one.value] : [])));
  },
};

/** @param {Client} client @returns {Promise<[name: string, outcome: string]>} */
async function tried(client) {
  const program = client.program();
  if (program === null) return [client.name, `none for ${process.platform} ${process.arch}`];
  return [client.name, await scene("hold", ({ folder }) => hold({ client, program, folder }))];
}

/** @param {{ client: Client, program: string, folder: string }} options */
async function hold({ client, program, folder }) {
  const start = performance.now();
  const at = seat(program, folder);
  const { id, talk } = await held(client, at);
  const told = await resumed(client, at, { id, prompt: LAST });
  const turns = client.repeatsResults ? once(told) : told;
  if (client.repeatsResults) assert.notDeepEqual(turns, told, `${client.name} is said to repeat results, and does not`);
  /** @type {Turn[]} */
  const wanted = [...expected(talk), { role: "user", text: LAST }];
  assert.deepEqual(marked(turns, wanted), wanted, client.name);
  keep(await client.fileOf(at, id), client);
  return `${client.version()} (${((performance.now() - start) / 1000).toFixed(1)} s)`;
}

/** For whoever wants to read what clients write. @param {string} file @param {Client} client */
function keep(file, client) {
  const folder = process.env.LEFTOFF_KEEP;
  if (!folder) return;
  const own = join(folder, client.name);
  mkdirSync(own, { recursive: true });
  copyFileSync(file, join(own, basename(file)));
  writeFileSync(join(own, "where.txt"), `${client.version()}\n${file}\n`);
}
