// @ts-check
// The plugin's contexts in the real OpenCode: what the model is sent stays in the window and extends what it was sent
// before, each call has its result, and OpenCode keeps all of it.
// Tries: js/opencode/context.js

import assert from "node:assert/strict";
import { join } from "node:path";
import { openStore } from "../../js/index.js";
import { scene } from "../faults/tools.mjs";
import { present, selectClients } from "./clients.mjs";
import { seat } from "./holding.mjs";
import { Script } from "./model/script.mjs";
import { serve } from "./model/server.mjs";
import { textOf } from "./model/turns.mjs";
import { compactSession, opencode, usePlugin } from "./opencode.mjs";
import { setUp } from "./set-up.mjs";

/** @import { Suite } from "../../scripts/suites.mjs" */
/** @import { Seat } from "./driving.mjs" */
/** @import { Step } from "./model/script.mjs" */

/** Reached after some ten results. */
const WINDOW = { window: 16_000, reserve: 2000 };
/** A message as it is sent. @typedef {{ role: string, content: any, tool_calls?: { id: string }[], tool_call_id?: string }} Sent */

/** @type {Suite} */
export default {
  title: "the plugin in OpenCode sends what fits, and most calls extend the last one byte for byte",
  async run({ all: hasAll }) {
    const found = present(selectClients({ all: hasAll })).find(({ client }) => client === opencode);
    if (!found) return { OpenCode: `none for ${process.platform} ${process.arch}` };
    return scene("context", ({ folder }) => holdInWindow(found.program, folder));
  },
};

/** @param {string} program @param {string} folder */
async function holdInWindow(program, folder) {
  const at = seat(program, folder);
  const talk = [2, 24, 2].map((count, place) => makeTurn(place, count));
  /** @type {{ prompt: string, isMain: boolean, messages: Sent[] }[]} */
  const requests = [];
  let prompt = "";
  const server = await serve(new Script(talk.flatMap(({ steps }) => steps)), {
    seen: ({ body, isMain }) => requests.push({ prompt, isMain, messages: body.messages }),
  });
  let id = "";
  try {
    const place = { ...at, url: server.url };
    // What init installs is loaded, too, later and without options.
    setUp(opencode, at).leftoff("init", opencode.agent);
    usePlugin(place, { context: WINDOW });
    for (const turn of talk) {
      ({ prompt } = turn);
      id = await opencode.ask({ ...place, hasPlugins: true }, { prompt, id, resumes: id !== "" });
    }
    prompt = "";
    await compactSession(at, id);
  } finally {
    await server.close();
  }
  const main = requests.filter(({ isMain }) => isMain);
  for (const request of main) checkRequest(request);
  const sent = main.map(({ messages }) => messages.map((message) => JSON.stringify(message)));
  let cuts = 0;
  for (const [place, messages] of sent.entries()) {
    const before = sent[place - 1] ?? [];
    if (isPrefix(before, messages)) continue;
    cuts += 1;
    assert.ok(messages.join().length < before.join().length, `call ${place} neither extends the last one nor cuts it`);
  }
  assert.ok(cuts > 0 && cuts < sent.length / 3, `${cuts} of ${sent.length} calls are cut`);
  assert.ok(sent.some((messages) => hasSummary(messages)));
  const compaction = requests.filter((request) => !request.isMain && request.prompt === "");
  assert.ok(compaction.length > 0);
  for (const { messages } of compaction) assert.ok(!hasSummary(messages.map((message) => JSON.stringify(message))));
  assert.equal(await countWhole(at, id), 28, "each result is recorded whole");
  return { requests: main.length, "that are cut": cuts };
}

/** How many whole results the store has. @param {Seat} at @param {string} id */
async function countWhole({ home, project }, id) {
  const store = await openStore({ home: join(home, ".leftoff"), project });
  try {
    const session = await store.session({ source: { agent: opencode.agent, id } });
    let count = 0;
    for await (const { role, content } of session.messages())
      if (role === "tool" && content.split("\n").filter((line) => line.endsWith("a line of words")).length === 300)
        count += 1;
    return count;
  } finally {
    await store.close();
  }
}

/** @param {number} place @param {number} count of calls @returns {{ prompt: string, steps: Step[] }} */
function makeTurn(place, count) {
  const steps = Array.from({ length: count }, (_, at) => {
    const number = place * 100 + at;
    const call = opencode.tools.shell(`for i in $(seq 300); do echo ${number}-$i a line of words; done`);
    return { text: `Step ${number}.`, calls: [call] };
  });
  return { prompt: `Run the commands of turn ${place}.`, steps: [...steps, { text: `Turn ${place} is done.` }] };
}

/** @param {{ prompt: string, messages: Sent[] }} request of the conversation itself */
function checkRequest({ prompt, messages }) {
  const said = messages.filter(({ role }) => role !== "system");
  const { length } = JSON.stringify(said);
  assert.ok(length < WINDOW.window * 5, `${length} characters`);
  const prompts = said.filter(({ role, content }) => role === "user" && textOf(content) === prompt);
  assert.equal(prompts.length, 1, prompt);
  const called = said.flatMap(({ tool_calls = [] }) => tool_calls.map(({ id }) => id));
  const answered = said.flatMap(({ tool_call_id }) => tool_call_id ?? []);
  assert.deepEqual(answered, called);
  // The model has not read it yet.
  const { role, content } = /** @type {Sent} */ (said.at(-1));
  if (role === "tool") assert.match(JSON.stringify(content), /-300 a line of words/);
}

/** @param {string[]} one @param {string[]} other */
function isPrefix(one, other) {
  return one.every((message, place) => message === other[place]);
}

/** @param {string[]} messages */
function hasSummary(messages) {
  return messages.some((message) => message.includes("[EARLIER CONVERSATION]"));
}
