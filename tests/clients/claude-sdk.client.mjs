// @ts-check
// The Claude Agent SDK with leftoff as its store of sessions: the suite that the SDK has for stores, and real sessions
// of the real client, resumed from the store alone.
// Tries: js/claude/

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { sessionStore } from "../../js/claude/index.js";
import { openStore } from "../../js/index.js";
import { pythonWith } from "../../scripts/toolchain.mjs";
import { scene } from "../faults/tools.mjs";
import { claudeCode, claudeEnv } from "./claude-code.mjs";
import { IN_CI, present } from "./clients.mjs";
import { seat } from "./holding.mjs";
import { installClaudeSdk } from "./install.mjs";
import { Script } from "./model/script.mjs";
import { serve } from "./model/server.mjs";
import { prompts } from "./talk.mjs";

/** @import { Outcome, Suite } from "../../scripts/suites.mjs" */
/** @import { Store } from "../../js/store/store.js" */
/** @import { ClaudeSessionEntry, ClaudeSessionKey, ClaudeSessionStore } from "../../js/types/claude.js" */
/** @import { Seat } from "./driving.mjs" */
/** @import { Turn } from "./model/turns.mjs" */

const BESIDE = fileURLToPath(new URL("claude-sdk/", import.meta.url));
/** The SDK for Python, built from its source, which has no client in it; and what its suite imports. */
const PYTHON_PACKAGES = [
  "--no-binary=claude-agent-sdk",
  "claude-agent-sdk==0.2.189",
  "anyio==4.16.0",
  "idna==3.20",
  "sniffio==1.3.1",
  "typing_extensions==4.16.0",
];
/** @type {Suite} */
export default {
  title: "the Claude Agent SDK keeps its sessions in a store of leftoff, and resumes them from there",
  /** @returns {Promise<Outcome>} */
  async run() {
    const file = installClaudeSdk();
    const conformance = await scene("conformance", async ({ folder }) => conform(folder, file));
    const found = present(IN_CI).find(({ client }) => client === claudeCode);
    if (!found) return { conformance, "Claude Code": `none for ${process.platform} ${process.arch}` };
    const sdk = await import(file);
    return {
      conformance,
      ...(await scene("claude-sdk", ({ folder }) => hold({ sdk, at: seat(found.program, folder), folder }))),
    };
  },
};

/** Runs the SDK's own suite for stores, which is in Python. @param {string} folder @param {string} sdk */
function conform(folder, sdk) {
  const python = pythonWith("claude-sdk", PYTHON_PACKAGES);
  if (!python) return "not run: 'python3 -m venv' or 'pip install' did not work";
  const server = [process.execPath, join(BESIDE, "serve-stores.mjs"), folder, sdk];
  const { status, stdout, stderr } = spawnSync(python, [join(BESIDE, "conformance.py"), ...server], {
    encoding: "utf8",
  });
  assert.equal(status, 0, stderr);
  const { stores, calls } = JSON.parse(stdout);
  return `${stores} stores, ${calls} calls`;
}

/** @param {{ sdk: any, at: Seat, folder: string }} parts */
async function hold({ sdk, at, folder }) {
  const talk = prompts(claudeCode.tools, at.project);
  /** @type {Turn[]} */
  let turns = [];
  const server = await serve(new Script([...talk.flatMap(({ steps }) => steps), { text: "It went on." }]), {
    seen: (request) => (request.isMain ? (turns = request.turns) : undefined),
  });
  const store = await openStore({ home: join(folder, "store"), project: at.project });
  const sessions = sessionStore({ store, foldSessionSummary: sdk.foldSessionSummary });
  /** @type {ClaudeSessionKey[]} */
  const keys = [];
  const sessionsSeen = {
    ...sessions,
    append(/** @type {ClaudeSessionKey} */ key, /** @type {ClaudeSessionEntry[]} */ entries) {
      keys.push(key);
      return sessions.append(key, entries);
    },
  };
  const ask = (/** @type {string} */ prompt, /** @type {string | undefined} */ resume, home = at.home) =>
    query(sdk, { prompt, resume, sessions: sessionsSeen, at: { ...at, home }, url: server.url });
  try {
    const id = await ask(talk[0]?.prompt ?? "", undefined);
    const [key] = keys;
    assert.ok(key);
    const file = await claudeCode.fileOf(at, id);
    checkMirror((await sessions.load(key)) ?? [], linesOf(file));
    for (const { prompt } of talk.slice(1)) assert.equal(await ask(prompt, id), id);

    // Another machine has the store alone.
    const home = join(folder, "another");
    mkdirSync(home);
    assert.equal(await ask("Go on.", id, home), id);
    assert.deepEqual(
      turns.filter(({ text, role }) => role === "user" && text).map(({ text }) => text),
      [...talk.map(({ prompt }) => prompt), "Go on."],
    );
    const counts = await compareWithStore({ sdk, sessions, store, at, key, file });
    return { ...counts, appends: keys.length };
  } finally {
    await sessions.close();
    await store.close();
    await server.close();
  }
}

/**
 * Lets the SDK ask, and answers the session's id.
 * @param {any} sdk
 * @param {{ prompt: string, resume: string | undefined, sessions: ClaudeSessionStore, at: Seat, url: string }} asked
 */
async function query(sdk, { prompt, resume, sessions, at, url }) {
  const options = {
    sessionStore: sessions,
    pathToClaudeCodeExecutable: at.program,
    cwd: at.project,
    resume,
    allowedTools: ["Bash", "Read", "Write"],
    // The SDK looks there for what the client has written.
    env: { PATH: process.env.PATH, HOME: at.home, CLAUDE_CONFIG_DIR: join(at.home, ".claude"), ...claudeEnv(url) },
  };
  let id = "";
  for await (const message of sdk.query({ prompt, options })) {
    assert.notEqual(message.subtype, "mirror_error", message.error);
    id = message.session_id ?? id;
  }
  return id;
}

/**
 * Compares what the SDK finds in its store of sessions with what leftoff has recorded.
 * @param {{ sdk: any, sessions: ClaudeSessionStore, store: Store, at: Seat, key: ClaudeSessionKey, file: string }} parts
 */
async function compareWithStore({ sdk, sessions, store, at, key, file }) {
  const where = { dir: at.project, sessionStore: sessions };
  const id = key.sessionId;
  await sessions.flush();
  const session = await store.session({ source: { agent: claudeCode.agent, id } });
  const [listed] = await sdk.listSessions(where);
  assert.deepEqual([listed.sessionId, listed.firstPrompt], [id, session.metadata.display.title]);
  const [{ mtime = NaN } = {}] = await sessions.listSessions(key.projectKey);
  assert.equal(listed.lastModified, mtime);
  const recorded = [];
  for await (const { role, content = "" } of session.messages()) recorded.push([role, content]);
  const messages = await sdk.getSessionMessages(id, where);
  for (const { message } of messages)
    for (const { type, text } of Array.isArray(message.content) ? message.content : [])
      if (type === "text")
        assert.ok(
          recorded.some(([, content = ""]) => content.includes(text)),
          text,
        );
  // The client's own file has the first prompt's part.
  const { imported } = await store.import(file);
  assert.deepEqual(
    imported.map((entry) => [entry.id, entry.added]),
    [[session.id, 0]],
  );
  const { sessionId: fork } = await sdk.forkSession(id, where);
  assert.equal((await sdk.getSessionMessages(fork, where)).length, messages.length);
  await sdk.deleteSession(id, where);
  assert.deepEqual(
    (await sdk.listSessions(where)).map((/** @type {any} */ one) => one.sessionId),
    [fork],
  );
  return { messages: messages.length, recorded: recorded.length };
}

/**
 * Compares what was mirrored with the client's own file, which has records of the client's own among the entries.
 * @param {ClaudeSessionEntry[]} mirrored @param {ClaudeSessionEntry[]} written
 */
function checkMirror(mirrored, written) {
  const all = new Set(written.map((entry) => JSON.stringify(entry)));
  const foreign = mirrored.find((entry) => !all.has(JSON.stringify(entry)));
  assert.equal(foreign && JSON.stringify(foreign), undefined);
  const said = (/** @type {ClaudeSessionEntry[]} */ entries) =>
    entries.filter(({ type }) => type === "user" || type === "assistant").map(({ uuid }) => uuid);
  assert.deepEqual(said(mirrored), said(written));
}

/** @param {string} path */
const linesOf = (path) =>
  readFileSync(path, "utf8")
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line));
