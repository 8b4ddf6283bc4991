// @ts-check
/** A session held in a client, and resumed in that one or another, with what the model is told of it then. */

import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { git } from "./history.mjs";
import { Script } from "./model/script.mjs";
import { serve } from "./model/server.mjs";
import { prompts } from "./talk.mjs";

/** @import { Client, Place, Seat } from "./driving.mjs" */
/** @import { Turn } from "./model/turns.mjs" */

/**
 * An empty HOME and an empty project for a client.
 * @param {string} program
 * @param {string} folder
 * @returns {Seat}
 */
export function seat(program, folder) {
  const made = { program, home: join(folder, "home"), project: join(folder, "project") };
  mkdirSync(made.home);
  mkdirSync(made.project);
  git(made.project, ["init", "--quiet"]);
  return made;
}

/** Holds a session, prompt after prompt. @param {Client} client @param {Seat} at */
export async function holdSession(client, at) {
  const talk = prompts(client.tools, at.project);
  const script = new Script(talk.flatMap(({ steps }) => steps));
  /** @type {string} */
  let id = randomUUID();
  let due = 0;
  await withServer({ client, at, script }, async (place) => {
    for (const [number, { prompt, steps }] of talk.entries()) {
      id = await client.ask(place, { prompt, id, resumes: number > 0 });
      due += steps.length;
      assert.equal(script.takenCount, due, `${client.name}: each step of prompt ${number + 1} is taken, in its turn`);
    }
  });
  return { id, talk };
}

/**
 * Resumes a session with one more prompt.
 * @param {Client} client
 * @param {Seat} at where the session lies
 * @param {{ id: string, prompt: string }} session
 * @returns {Promise<Turn[]>} what the model was told, up to the prompt
 */
export async function resumeSession(client, at, { id, prompt }) {
  const script = new Script([{ text: "That was all. ✔" }], { name: "later" });
  const turns = await withServer({ client, at, script }, async (place) => {
    assert.equal(
      await client.ask(place, { prompt, id, resumes: true }),
      id,
      `${client.name}: the session goes on as itself`,
    );
  });
  assert.equal(script.takenCount, 1, `${client.name}: the prompt is answered`);
  return turns;
}

/**
 * @param {{ client: Client, at: Seat, script: Script }} what
 * @param {(place: Place) => Promise<void>} work
 * @returns {Promise<Turn[]>} those of the newest request
 */
async function withServer({ client, at, script }, work) {
  /** @type {Turn[]} */
  let turns = [];
  const server = await serve(script, {
    seen: (request) => {
      if (request.isMain) turns = request.turns;
    },
  });
  const place = { ...at, url: server.url };
  try {
    client.prepare(place);
    await work(place);
  } finally {
    await server.close();
  }
  assert.deepEqual(server.unknown, [], `${client.name}: it asks for nothing that the server does not know`);
  return turns;
}
