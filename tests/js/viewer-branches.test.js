// @ts-check
// The branches that the viewer shows: each path is the one that the session has, and no message is lost.
// Tries: js/viewer/branches.js, js/viewer/model.js

import assert from "node:assert/strict";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { MemoryStorage, openStore } from "../../js/index.js";
import { Branches } from "../../js/viewer/branches.js";
import { Model } from "../../js/viewer/model.js";

/** @import { ReadMessage, Session } from "../../js/index.js" */

const FIXTURES = fileURLToPath(new URL("../fixtures/", import.meta.url));
/** The agents of which there are samples, each in a folder. */
const AGENTS = "aider claude-code cline codex continue copilot cortext gemini nanocoder opencode pi qwen vscode".split(
  " ",
);

/** @param {AsyncIterable<ReadMessage>} messages */
async function readAll(messages) {
  /** @type {ReadMessage[]} */
  const all = [];
  for await (const message of messages) all.push(message);
  return all;
}

/** The ids in the log: of several messages with one id the page names the later ones apart. @param {readonly { id: string }[]} messages */
const idsOf = (messages) => messages.map(({ id }) => id.replace(/~\d+$/, ""));

/** A session in memory whose log has these bytes. @param {Uint8Array} log */
async function openLog(log) {
  const place = { storage: new MemoryStorage(), home: "/home", project: "/project" };
  const written = await (await openStore(place)).create();
  const { id, path } = written;
  await written.append({ role: "user", content: "replaced below" });
  await place.storage.replace(`${path}/messages.jsonl`, log);
  const store = await openStore({ ...place, readOnly: true });
  return store.session(id);
}

/**
 * Each message's path: the current one, the one that the forks offer by their names, and that of every message.
 * @param {Session} session @param {string} what
 */
async function checkPaths(session, what) {
  const messages = await readAll(session.messages({ allBranches: true }));
  const branches = new Branches();
  branches.add(messages);
  assert.deepEqual(idsOf(branches.path), idsOf(await readAll(session.messages())), `${what}: the current path`);
  /** @type {Set<ReadMessage>} */
  const seen = new Set(branches.path);
  for (const { id } of messages) {
    assert.ok(branches.reveal(id), id);
    const last = /** @type {ReadMessage} */ (branches.path.at(-1));
    // One that goes on where another begins ends with that one.
    const path = await readAll(session.messages({ leaf: idsOf([last])[0] }));
    assert.deepEqual(idsOf(branches.path), idsOf(path), `${what}: the path of ${id}`);
    for (const shown of branches.path) seen.add(shown);
    const { name, path: named } = branches;
    if (name === undefined) continue;
    branches.follow();
    branches.choose(name);
    assert.deepEqual(idsOf(branches.path), idsOf(named), `${what}: what ${name} names`);
  }
  assert.equal(seen.size, messages.length, `${what}: the messages that a path shows`);
}

for (const name of readdirSync(join(FIXTURES, "format")).filter((file) => file.endsWith(".jsonl")))
  test(`the paths of format/${name}`, async () => {
    const log = new Uint8Array(readFileSync(join(FIXTURES, "format", name)));
    await checkPaths(await openLog(log), name);
  });

/** The files below a folder, and a database beside its own logs as one. @param {string} folder @returns {string[]} */
function filesBelow(folder) {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile() && !/(SOURCES\.txt|LICENSE[^/]*|-wal|-shm)$/.test(path));
}

for (const agent of AGENTS)
  test(`each sample of ${agent} opens with as many messages as its importer reports`, async () => {
    const folder = join(FIXTURES, agent);
    let [sessions, counted] = [0, 0];
    for (const path of filesBelow(folder)) {
      const place = { storage: new MemoryStorage(), home: "/home", project: "/project" };
      await place.storage.replace(`/sample/${path.slice(folder.length + 1)}`, new Uint8Array(readFileSync(path)));
      const store = await openStore(place);
      const result = await store.import(`/sample/${path.slice(folder.length + 1)}`).catch(refused);
      for (const { id, messageCount } of result?.imported ?? []) {
        const session = await store.session(id);
        const model = new Model(session.metadata);
        model.add(await readAll(session.messages({ allBranches: true })));
        assert.equal(model.branches.all.length, messageCount, `${path}: ${id}`);
        await checkPaths(session, path);
        [sessions, counted] = [sessions + 1, counted + messageCount];
      }
    }
    assert.ok(sessions > 0 && counted > sessions, `expected sessions of ${agent}, but found ${sessions}`);
  });

/** A file that is no session of its own, or in which nothing was said. @param {Error & { code?: string }} error */
function refused(error) {
  if (error.code !== "unknown_format" && error.code !== "empty_file") throw error;
}
