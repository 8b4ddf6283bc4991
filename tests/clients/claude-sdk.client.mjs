// @ts-check
// The Claude Agent SDK with leftoff as its store of sessions: the suite that the SDK has for stores, and real sessions
// of the real client, resumed from the store alone.
// Tries: js/claude/

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { copyFileSync, cpSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { sessionStore } from "../../js/claude/index.js";
import { NodeStorage, openStore } from "../../js/index.js";
import { storageError } from "../../js/storage/contract.js";
import { root, run } from "../../scripts/run.mjs";
import { pythonWith } from "../../scripts/toolchain.mjs";
import { scene } from "../faults/tools.mjs";
import { claudeCode, claudeEnv } from "./claude-code.mjs";
import { IN_CI, present } from "./clients.mjs";
import { runProgram } from "./driving.mjs";
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
    checkTypes(file);
    const sdk = await import(file);
    const inScene = (/** @type {(parts: { sdk: any, at: Seat, folder: string }) => Promise<any>} */ work) =>
      scene("claude-sdk", ({ folder }) => work({ sdk, at: seat(found.program, folder), folder }));
    const counts = await inScene(hold);
    await inScene(holdWithSubagent);
    await inScene(holdOnFullDisk);
    await inScene(({ at, folder }) => runExample({ file, at, folder }));
    return { conformance, ...counts };
  },
};

/** The SDK takes what `sessionStore` makes, by its own types. @param {string} sdk */
function checkTypes(sdk) {
  const file = join(dirname(sdk), "..", "..", "..", "session-store.ts");
  const code = [
    `import { foldSessionSummary, type SessionStore } from "@anthropic-ai/claude-agent-sdk";`,
    `import { sessionStore } from ${JSON.stringify(join(root, "types", "claude", "index.js"))};`,
    `import type { Store } from ${JSON.stringify(join(root, "types", "index.js"))};`,
    `export const make = (store: Store): SessionStore => sessionStore({ store, foldSessionSummary });`,
  ];
  writeFileSync(file, `${code.join("\n")}\n`);
  const options = ["--noEmit", "--strict", "--skipLibCheck", "--module", "nodenext", "--target", "es2023"];
  run("tsc", [
    "--ignoreConfig",
    ...options,
    "--types",
    "node",
    "--typeRoots",
    join(root, "node_modules", "@types"),
    file,
  ]);
}

/**
 * A sub-agent is a session of its own, begun by a call of the main one; the client's own files have no more.
 * @param {{ sdk: any, at: Seat, folder: string }} parts
 */
async function holdWithSubagent({ sdk, at, folder }) {
  const task = "Count the files.";
  const call = {
    id: "call-1",
    name: "Agent",
    input: { description: "Count", prompt: task, subagent_type: "general-purpose" },
  };
  const answers = {
    /** @param {{ isMain: boolean, turns: Turn[] }} asked */
    answer({ isMain, turns }) {
      const said = { id: `answer-${turns.length}`, reasoning: "", calls: [] };
      if (!isMain) return { ...said, text: "Aside." };
      if (turns[0]?.text?.includes(task)) return { ...said, id: "of-the-sub-agent", text: "There are three." };
      if (turns.some(({ results }) => results)) return { ...said, text: "All done." };
      return { ...said, text: "I delegate.", calls: [call] };
    },
  };
  const server = await serve(/** @type {any} */ (answers));
  const store = await openStore({ home: join(folder, "store"), project: at.project });
  const sessions = sessionStore({ store });
  try {
    const id = await query(sdk, { prompt: "Delegate it.", resume: undefined, sessions, at, url: server.url });
    await sessions.flush();
    assert.equal((await sdk.listSubagents(id, { dir: at.project, sessionStore: sessions })).length, 1);
    const [listed, ...others] = await store.list({ type: "subagent" });
    assert.ok(listed);
    assert.deepEqual(others, []);
    const { parent } = await store.info(await store.session(listed.id));
    assert.deepEqual(parent, { session: `${claudeCode.agent}/${id}`, callId: call.id });
    const { imported } = await store.import(join(at.home, ".claude", "projects"));
    assert.deepEqual(
      imported.map(({ added }) => added),
      [0, 0],
    );
  } finally {
    await sessions.close();
    await store.close();
    await server.close();
  }
}

/**
 * A disk becomes full in the middle of a batch: the SDK tries again, and tells of what it drops.
 * @param {{ sdk: any, at: Seat, folder: string }} parts
 */
async function holdOnFullDisk({ sdk, at, folder }) {
  const answers = ["One.", "Two.", "Three."].map((text) => ({ text }));
  const server = await serve(new Script(answers));
  const store = await openStore({ home: join(folder, "store"), project: at.project });
  const storage = new FullStorage({ root: join(store.home, "claude-agent") });
  const sessions = sessionStore({ store, storage });
  /** @type {ClaudeSessionKey[]} */
  const keys = [];
  const sessionsSeen = {
    ...sessions,
    append(/** @type {ClaudeSessionKey} */ key, /** @type {ClaudeSessionEntry[]} */ entries) {
      keys.push(key);
      return sessions.append(key, entries);
    },
  };
  const ask = (/** @type {string} */ prompt, errors = 0) =>
    query(sdk, { prompt, resume: undefined, sessions: sessionsSeen, at, url: server.url, errors });
  try {
    storage.refusalsLeft = 2;
    const id = await ask("One?");
    const [key] = keys;
    assert.ok(key);
    assert.equal(storage.refusalsLeft, 0);
    checkMirror((await sessions.load(key)) ?? [], linesOf(await claudeCode.fileOf(at, id)));
    storage.refusalsLeft = 3;
    await ask("Two?", 1);
    assert.equal(storage.refusalsLeft, 0);
    checkMirror((await sessions.load(key)) ?? [], linesOf(await claudeCode.fileOf(at, id)));
  } finally {
    await sessions.close();
    await storage.close();
    await store.close();
    await server.close();
  }
}

/** A disk that takes half of a batch, so often. */
class FullStorage extends NodeStorage {
  refusalsLeft = 0;

  /** @param {string} path @param {Uint8Array} bytes @param {{ durable?: boolean }} [options] */
  async append(path, bytes, options) {
    if (this.refusalsLeft === 0 || !path.endsWith(".jsonl")) return super.append(path, bytes, options);
    this.refusalsLeft -= 1;
    const written = bytes.length >> 1;
    await super.append(path, bytes.subarray(0, written), options);
    throw storageError("append", path, { code: "disk_full", written });
  }
}

/**
 * The example, with the real SDK and the real client, which is found as the SDK finds its own.
 * @param {{ file: string, at: Seat, folder: string }} parts
 */
async function runExample({ file, at, folder }) {
  const server = await serve(new Script([{ text: "The first answer." }, { text: "The second answer." }]));
  const packages = join(at.project, "node_modules");
  const scope = join(packages, "@anthropic-ai");
  mkdirSync(scope, { recursive: true });
  symlinkSync(root, join(packages, "leftoff"), "dir");
  cpSync(dirname(file), join(scope, "claude-agent-sdk"), { recursive: true });
  const own = basename(dirname(at.program)).replace("claude-code", "claude-agent-sdk");
  symlinkSync(dirname(at.program), join(scope, own), "dir");
  copyFileSync(join(root, "examples", "claude-agent.mjs"), join(at.project, "claude-agent.mjs"));
  const ask = (/** @type {string[]} */ ...args) =>
    runProgram("the example", {
      program: process.execPath,
      args: ["claude-agent.mjs", ...args],
      project: at.project,
      home: at.home,
      env: { LEFTOFF_HOME: join(folder, "store"), ...claudeEnv(server.url) },
    });
  try {
    const [, id = ""] = /^The first answer\.\n\nsession (\S+)\n$/.exec(await ask("What is it?")) ?? [];
    rmSync(join(at.home, ".claude"), { recursive: true });
    assert.equal(await ask("And now?", id), `The second answer.\n\nsession ${id}\n`);
    const store = await openStore({ home: join(folder, "store"), project: at.project });
    const session = await store.session({ source: { agent: claudeCode.agent, id } });
    const said = [];
    for await (const { role, content } of session.messages()) said.push([role, content]);
    await store.close();
    const words = said.filter(([role, content]) => role !== "system" && content);
    assert.deepEqual(words.slice(-1), [["assistant", "The second answer."]]);
    for (const prompt of ["What is it?", "And now?"])
      assert.ok(
        said.some(([, content]) => content === prompt),
        prompt,
      );
  } finally {
    await server.close();
  }
}

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
 * @param {{ prompt: string, resume: string | undefined, sessions: ClaudeSessionStore, at: Seat, url: string, errors?: number }} asked
 *   `errors`: how many batches are not stored
 */
async function query(sdk, { prompt, resume, sessions, at, url, errors = 0 }) {
  const options = {
    sessionStore: sessions,
    pathToClaudeCodeExecutable: at.program,
    cwd: at.project,
    resume,
    allowedTools: ["Agent", "Bash", "Read", "Write"],
    // The SDK looks there for what the client has written.
    env: { PATH: process.env.PATH, HOME: at.home, CLAUDE_CONFIG_DIR: join(at.home, ".claude"), ...claudeEnv(url) },
  };
  let id = "";
  const told = [];
  for await (const message of sdk.query({ prompt, options })) {
    if (message.subtype === "mirror_error") told.push(message.error);
    id = message.session_id ?? id;
  }
  assert.equal(told.length, errors, String(told));
  for (const error of told) assert.match(error, /the disk is full/);
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
