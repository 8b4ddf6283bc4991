// @ts-check
// A person's day, in the clients that leftoff sets up: a conversation is begun by a command in Claude Code and stopped;
// the next day it is listed, and goes on in Codex where the list is answered with its number; it is completed, and
// resumed nevertheless in Gemini CLI. Nothing but the clients and the command line is used for it.
// Tries: js/init/, js/cli/hook.js, js/cli/resume.js

import assert from "node:assert/strict";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join, relative } from "node:path";
import { scene } from "../faults/tools.mjs";
import { claudeCode } from "./claude-code.mjs";
import { IN_CI, present } from "./clients.mjs";
import { codex } from "./codex.mjs";
import { gemini } from "./gemini.mjs";
import { seat } from "./holding.mjs";
import { inOrder, last, runTalk, readStored } from "./saying.mjs";
import { setUp } from "./set-up.mjs";

/** @import { Suite } from "../../scripts/suites.mjs" */
/** @import { Client } from "./driving.mjs" */

const RULES = "You help to think: ask one question at a time. RULES-19.";
const TALK = [
  "What is to be limited?",
  "Requests for each key, REST only.",
  "A token bucket, then.",
  "And what does a client see?",
  "A 429 with Retry-After.",
  "One more: for how long is it kept?",
  "A day.",
];

/** @type {Suite} */
export default {
  title:
    "a person's day: begun in Claude Code, listed the next day, gone on with in Codex, completed, resumed in Gemini CLI",
  run() {
    const all = new Map(present(IN_CI).map(({ client, program }) => [client, program]));
    const missing = [claudeCode, codex, gemini].filter((client) => !all.has(client));
    if (missing.length > 0) return Promise.resolve({ skipped: missing.map(({ name }) => name).join(", ") });
    return scene("day", ({ folder }) => runDay(seat("", folder), (client) => all.get(client) ?? ""));
  },
};

/** @param {{ home: string, project: string }} place @param {(client: Client) => string} programOf */
async function runDay(place, programOf) {
  const [question = "", answer = "", decided = "", asked = "", told = "", more = "", most = ""] = TALK;
  const at = (/** @type {Client} */ client) => ({ ...place, program: programOf(client) });
  const [claude, codexs, geminis] = [claudeCode, codex, gemini].map((client) => {
    const own = setUp(client, at(client));
    own.command("brainstorm", RULES);
    own.leftoff("init", client.agent);
    return own;
  });
  assert.ok(claude && codexs && geminis);
  const begun = await runTalk(
    claudeCode,
    at(claudeCode),
    claude.stopped([
      { prompt: claude.begins("brainstorm", "rate limits"), steps: [{ text: question }] },
      { prompt: answer, steps: [{ text: decided }] },
    ]),
  );
  assert.match(last(begun.seen), /Session saved\.\s+Conversation ".*rate limits.*" has been paused\./i);
  const kept = await readStored(place);
  assert.match(
    relative(place.project, kept.path),
    /^conversations\/\d{4}-\d\d-\d\d\/001-brainstorm-rate-limits\/\.session$/,
    "it lies in the workspace",
  );
  assert.deepEqual([kept.lifecycle, kept.type, kept.agent.command], ["paused", "brainstorm", "/workspace.brainstorm"]);

  const listed = claude.leftoff("tomorrow", "resume", "--list");
  assert.match(
    listed,
    /^1\. \[brainstorm\] .*rate limits.*\n {3}Last active: yesterday \| Status: paused \| Name: 001-brainstorm-rate-limits \| ID: .*\n {3}Summary: .+\n$/i,
  );

  const inCodex = await runTalk(codex, at(codex), codexs.answered("1", [{ prompt: asked, steps: [{ text: told }] }]));
  assert.ok(inCodex.list.includes("001-brainstorm-rate-limits"), inCodex.list);
  commandFirst(inCodex.told);
  inOrder(
    inCodex.told,
    ["[RESUMED CONVERSATION]", "brainstorm / ", ...codexs.quoted([question, answer, decided])],
    "Codex",
  );
  assert.deepEqual((await readStored(place)).texts.slice(-2), [asked, told], "what is said in Codex is with it");

  codexs.leftoff("complete", "last", "--summary", "a token bucket, 429 with Retry-After");
  const inGemini = await runTalk(
    gemini,
    at(gemini),
    geminis.insisted("1", [{ prompt: more, steps: [{ text: most }] }]),
  );
  assert.match(inGemini.told, /this conversation was marked complete/);
  commandFirst(inGemini.again);
  inOrder(
    inGemini.again,
    [
      "[RESUMED CONVERSATION]",
      "Summary: a token bucket, 429 with Retry-After",
      ...geminis.quoted([question, answer, decided, asked, told]),
    ],
    "Gemini CLI",
  );
  const then = await readStored(place);
  assert.deepEqual(
    [then.id, then.path, then.lifecycle],
    [kept.id, kept.path, "paused"],
    "the client's end has paused it",
  );
  assert.deepEqual(
    then.texts.filter((text) => TALK.includes(text)),
    TALK,
    "each word once, in its order",
  );
  const json = JSON.parse(readFileSync(join(kept.path, "session.json"), "utf8"));
  assert.deepEqual(
    [json.status, json.message_count, json.context_summary],
    ["paused", then.texts.length, "a token bucket, 429 with Retry-After; since then: at the end: A day"],
  );
  const events = readFileSync(join(kept.path, "events.jsonl"), "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  const statuses = events.filter(({ type }) => type === "status").map(({ status }) => status);
  // Codex, run for one prompt, ends at each.
  assert.match(statuses.join(" "), /^paused (active paused )+completed active( paused active)* paused$/);
  assert.deepEqual(readdirSync(kept.path).sort(), [".gitattributes", "events.jsonl", "messages.jsonl", "session.json"]);
  assert.ok(!existsSync(join(place.home, ".leftoff", "hooks.log")), "no hook failed");
  return { messages: then.texts.length };
}

/** The command's text comes before all else that the model is told. @param {string} told */
function commandFirst(told) {
  const [rules, block] = [RULES, "[RESUMED CONVERSATION]"].map((text) => told.indexOf(text));
  assert.ok(rules !== undefined && block !== undefined && rules >= 0 && rules < block, told);
}
