// @ts-check
/** What is said in a client by what leftoff installed there, and what its model is told then. */

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { openStore } from "../../js/index.js";
import { Script } from "./model/script.mjs";
import { serve } from "./model/server.mjs";

/** @import { Client, Seat } from "./driving.mjs" */
/** @import { Turn } from "./model/turns.mjs" */
/** @import { ScriptedPrompt } from "./set-up.mjs" */

/** Of each role, how many. @typedef {{ system: number, user: number, assistant: number, tool: number }} RoleCounts */

/**
 * Says one thing after another; what the model was told of the conversation at the last one.
 * @param {Client} client @param {Seat} at @param {ScriptedPrompt[]} talk
 */
export async function runTalk(client, at, talk) {
  /** @type {Turn[]} */
  let seen = [];
  let [list, told, again] = ["", "", ""];
  const script = new Script(
    talk.flatMap(({ steps }) => steps),
    { name: `s${randomUUID().slice(0, 4)}` },
  );
  const server = await serve(script, { seen: (request) => (request.isMain ? (seen = request.turns) : undefined) });
  let id = /** @type {string} */ (randomUUID());
  try {
    const place = { ...at, url: server.url };
    client.prepare(place);
    for (const [number, { prompt, isList, isResume, isAgain }] of talk.entries()) {
      id = await client.ask(place, { prompt, id, resumes: number > 0 });
      if (isList) list = last(seen);
      if (isResume) told = last(seen);
      if (isAgain) again = last(seen);
    }
    assert.equal(script.takenCount, script.length, `${client.name}: each step is taken`);
  } finally {
    await server.close();
  }
  assert.deepEqual(server.unknown, [], client.name);
  return { id, seen, list, told, again };
}

/** What came last that the user, or a tool, has said. @param {Turn[]} turns */
export function last(turns) {
  const at = turns.findLastIndex(({ role }) => role === "assistant");
  const tail = turns.slice(at + 1);
  return tail.flatMap(({ text = "", results = [] }) => [text, ...results.map((one) => one.text)]).join("\n");
}

/** The one session of the project, and what its log holds. @param {{ home: string, project: string }} at */
export async function readStored({ home, project }) {
  const store = await openStore({ home: join(home, ".leftoff"), project });
  try {
    const listed = await store.list({ type: null, archived: null });
    assert.equal(listed.length, 1, JSON.stringify(listed.map(({ title, path }) => [title, path])));
    const session = await store.session(/** @type {string} */ (listed[0]?.id));
    const said = [];
    for await (const message of session.messages())
      said.push(/** @type {{ role: string, content: string }} */ (message));
    const messages = countRoles(said);
    const { type, lifecycle, agent } = session.metadata;
    const texts = said.map(({ content }) => content);
    return { id: session.id, path: session.path, type, lifecycle, agent, messages, texts };
  } finally {
    await store.close();
  }
}

/** @param {{ role?: string }[]} messages @returns {RoleCounts} */
export function countRoles(messages) {
  const by = { system: 0, user: 0, assistant: 0, tool: 0 };
  for (const { role } of messages) by[/** @type {"user"} */ (role)] += 1;
  return by;
}

/** Each once, one behind the other. @param {string} text @param {string[]} parts @param {string} what */
export function inOrder(text, parts, what) {
  let at = 0;
  for (const part of parts) {
    const place = text.indexOf(part, at);
    assert.ok(place >= 0, `${what}: expected ${JSON.stringify(part)} behind byte ${at} of\n${text}`);
    assert.equal(text.split(part).length, 2, `${what}: ${JSON.stringify(part)} once in\n${text}`);
    at = place;
  }
}
