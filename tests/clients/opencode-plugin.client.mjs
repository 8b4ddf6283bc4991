// @ts-check
// The plugin in the real OpenCode: it records sessions as they happen, each message once, its tools answer the model,
// and a compaction is told what not to lose. And the example of a plugin of one's own.
// Tries: js/opencode/, examples/, src/operation/store/import/live.rs

import assert from "node:assert/strict";
import { copyFileSync, mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { openStore } from "../../js/index.js";
import { root } from "../../scripts/run.mjs";
import { scene } from "../faults/tools.mjs";
import { present, selectClients } from "./clients.mjs";
import { seat } from "./holding.mjs";
import { Script } from "./model/script.mjs";
import { serve } from "./model/server.mjs";
import { compactSession, opencode, usePlugin } from "./opencode.mjs";
import { setUp } from "./set-up.mjs";
import { prompts } from "./talk.mjs";

/** @import { Suite } from "../../scripts/suites.mjs" */
/** @import { Seat } from "./driving.mjs" */
/** @import { Turn } from "./model/turns.mjs" */

/** @type {Suite} */
export default {
  title: "the plugin in OpenCode records each message once, and its tools answer the model",
  async run({ all: hasAll }) {
    const found = present(selectClients({ all: hasAll })).find(({ client }) => client === opencode);
    if (!found) return { OpenCode: `none for ${process.platform} ${process.arch}` };
    await scene("own-plugin", ({ folder }) => askOwnPlugin(found.program, folder));
    return scene("plugin", ({ folder }) => holdWithPlugin(found.program, folder));
  },
};

/** @param {string} program @param {string} folder */
async function holdWithPlugin(program, folder) {
  const at = seat(program, folder);
  const talk = prompts(opencode.tools, at.project);
  const stops = "That's enough for today.";
  const asked = "What did we say about the plan tidewater?";
  const search = { name: "leftoff_search", input: { words: "tidewater", cursor: "" } };
  const recall = { name: "leftoff_recall", input: { question: "Which plan is called tidewater?" } };
  const earlier = await sayEarlier(at);
  const steps = [
    ...talk.flatMap((turn) => turn.steps),
    { text: "Looking.", calls: [search, recall] },
    { text: "Done." },
    { text: "Session saved." },
  ];
  /** @type {Turn[]} */
  let turns = [];
  /** @type {string[]} */
  const bodies = [];
  const server = await serve(new Script(steps), {
    seen: (request) => {
      bodies.push(JSON.stringify(request.body));
      if (request.isMain) turns = request.turns;
    },
  });
  let id = "";
  try {
    const place = { ...at, url: server.url };
    setUp(opencode, at).leftoff("init", opencode.agent);
    // Once more: the project has it, too.
    usePlugin(place);
    for (const prompt of [...talk.map((turn) => turn.prompt), asked, stops])
      id = await opencode.ask({ ...place, hasPlugins: true }, { prompt, id, resumes: id !== "" });
    bodies.length = 0;
    await compactSession(at, id);
  } finally {
    await server.close();
  }
  checkCompaction(bodies, talk[0]?.prompt ?? "");
  const results = turns.flatMap((turn) => turn.results ?? []).map(({ text }) => text);
  const store = await openStore({ home: join(at.home, ".leftoff"), project: at.project });
  try {
    const session = await store.session({ source: { agent: opencode.agent, id } });
    assert.equal(session.metadata.lifecycle, "paused", "what the model is told does not resume it");
    const recorded = await contentsOf(session);
    const file = await opencode.fileOf(at, id);
    const { imported } = await store.import(file);
    assert.deepEqual(
      imported.map((entry) => [entry.id, entry.added]),
      [[session.id, 0]],
    );
    assert.deepEqual(await contentsOf(session), recorded);
    const whole = JSON.parse(readFileSync(file, "utf8"));
    const said = whole.messages.flatMap((/** @type {any} */ { info, parts }) =>
      parts
        .filter((/** @type {any} */ { type }) => type === "text")
        .map((/** @type {any} */ { text }) => [info.role, text]),
    );
    // Also where OpenCode 1 calls what is for OpenCode 2.
    for (const [role, text] of said) {
      const count = said.filter((/** @type {string[]} */ one) => one[0] === role && one[1] === text).length;
      const found = recorded.filter((one) => one.role === role && one.content === text);
      assert.equal(found.length, count, text);
    }
    const told = turns.filter((turn) => turn.role === "user").map((turn) => turn.text);
    assert.ok(
      told.some((text) => text?.includes("this session was saved and is paused")),
      told.join("\n"),
    );
    const answers = results.filter((text) => text.includes("tidewater"));
    assert.equal(answers.length, 2, results.join("\n"));
    for (const text of answers) assert.ok(text.includes(earlier) && !text.includes(session.id), text);
    return { messages: recorded.length, "results of the plugin's tools": results.length };
  } finally {
    await store.close();
  }
}

/** A session notes a task; the model of the next one asks the example's tool for it. @param {string} program @param {string} folder */
async function askOwnPlugin(program, folder) {
  const at = seat(program, folder);
  const packages = join(at.project, "node_modules");
  mkdirSync(packages);
  symlinkSync(root, join(packages, "leftoff"));
  copyFileSync(join(root, "examples", "opencode-plugin.mjs"), join(at.project, "opencode-plugin.mjs"));
  const task = "Write the changelog";
  const todos = [{ id: "1", content: task, status: "pending", priority: "high" }];
  await holdTurn(at, "Note what is to be done.", { name: "todowrite", input: { todos } });
  const [answer = ""] = await holdTurn(at, "What is open?", { name: "open_tasks", input: {} });
  assert.match(answer, new RegExp(`^.+: ${task}$`));
}

/**
 * Holds a session of one prompt, in which the model calls a tool; gives the results.
 * @param {Seat} at @param {string} prompt @param {{ name: string, input: Record<string, unknown> }} call
 */
async function holdTurn(at, prompt, call) {
  /** @type {Turn[]} */
  let turns = [];
  const server = await serve(new Script([{ text: "Calling.", calls: [call] }, { text: "Done." }]), {
    seen: (request) => (request.isMain ? (turns = request.turns) : undefined),
  });
  try {
    const place = { ...at, url: server.url };
    usePlugin(place, {}, join(at.project, "opencode-plugin.mjs"));
    await opencode.ask({ ...place, hasPlugins: true }, { prompt, resumes: false });
  } finally {
    await server.close();
  }
  return turns.flatMap((turn) => turn.results ?? []).map(({ text }) => text);
}

/** A session that the model has not seen; its id. @param {Seat} at */
async function sayEarlier(at) {
  const store = await openStore({ home: join(at.home, ".leftoff"), project: at.project });
  const session = await store.create({ title: "The plan" });
  await session.append({ role: "user", content: "The plan is called tidewater." });
  await session.stop();
  await store.close();
  return session.id;
}

/** Checks that a compaction's request has the brief. @param {string[]} bodies @param {string} task the session's first prompt */
function checkCompaction(bodies, task) {
  const [words = ""] = /[\w ]{8,}/.exec(task) ?? [];
  const found = bodies.map((body) => /ORIGINAL TASK: (.{200})/s.exec(body)?.[1]).filter(Boolean);
  assert.ok(
    found.some((brief) => brief?.includes(words.trim())),
    `${words}: ${found.join("\n")} of ${bodies.length}`,
  );
}

/** @param {import("../../js/session/session.js").Session} session */
async function contentsOf(session) {
  const all = [];
  for await (const { id, role, content } of session.messages({ allBranches: true })) all.push({ id, role, content });
  return all;
}
