// @ts-check
// In each client a session is held, and resumed by that client itself: what the model is told of it then is the
// yardstick for sessions that are resumed elsewhere.
// Tries: src/resume/, src/resume/block.rs

import assert from "node:assert/strict";
import { copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { scene } from "../faults/tools.mjs";
import { present, selectClients } from "./clients.mjs";
import { holdSession, resumeSession, seat } from "./holding.mjs";
import { expectedTurns, markResults, dedupeResults } from "./talk.mjs";

/** @import { Suite } from "../../scripts/suites.mjs" */
/** @import { Present } from "./clients.mjs" */
/** @import { Turn } from "./model/turns.mjs" */

const LAST = "And now? 🏁";

/** @type {Suite} */
export default {
  title: "a session that a client resumes holds each text, call and result once, in order, as real turns",
  async run({ all: hasAll }) {
    const asked = selectClients({ all: hasAll });
    const clients = present(asked);
    // A client is at its start most of the time, on one core; so all are held at once.
    const all = await Promise.allSettled(clients.map((one) => hold(one, process.env.LEFTOFF_KEEP)));
    const errors = all.flatMap((one) => (one.status === "rejected" ? [one.reason] : []));
    if (errors.length > 0) throw new AggregateError(errors, `${errors.length} of ${clients.length} clients`);
    const absent = asked.filter((client) => clients.every((one) => one.client !== client));
    const none = absent.map(({ name }) => [name, `none for ${process.platform} ${process.arch}`]);
    return Object.fromEntries([
      ...none,
      ...all.flatMap((one, at) => (one.status === "fulfilled" ? [[clients[at]?.client.name, one.value]] : [])),
    ]);
  },
};

/**
 * Fails where it is not as the title says.
 * @param {Present} present
 * @param {string} [keep] a folder for the file that the client wrote, whatever is in it
 */
export async function hold({ client, program, version }, keep) {
  return scene("hold", async ({ folder }) => {
    const start = performance.now();
    const at = seat(program, folder);
    const { id, talk } = await holdSession(client, at);
    const told = await resumeSession(client, at, { id, prompt: LAST });
    if (keep) keepFile(await client.fileOf(at, id), { folder: join(keep, client.name), version });
    const turns = client.repeatsResults ? dedupeResults(told) : told;
    if (client.repeatsResults)
      assert.notDeepEqual(turns, told, `${client.name} is said to repeat results, and does not`);
    /** @type {Turn[]} */
    const wanted = [...expectedTurns(talk), { role: "user", text: LAST }];
    assert.deepEqual(markResults(turns, wanted), wanted, client.name);
    return `${version} (${((performance.now() - start) / 1000).toFixed(1)} s)`;
  });
}

/**
 * For whoever wants to read what clients write.
 * @param {string} file
 * @param {{ folder: string, version: string }} where
 */
function keepFile(file, { folder, version }) {
  mkdirSync(folder, { recursive: true });
  copyFileSync(file, join(folder, basename(file)));
  writeFileSync(join(folder, "where.txt"), `${version}\n${file}\n`);
}
