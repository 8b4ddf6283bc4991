// @ts-check
// What an import would take in is listed as the import then takes it in, and listing it writes nothing.
// Tries: src/operation/store/import/importable.rs, js/store/store.js, js/agents/files.js

import assert from "node:assert/strict";
import { cpSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import { openStore } from "../../js/index.js";
import { inFolder } from "./git-tools.js";

/** @import { ImportableSession, ImportedSession, Store } from "../../js/index.js" */

const FIXTURES = fileURLToPath(new URL("../fixtures", import.meta.url));
const AGENTS = [
  ...["aider", "claude-code", "cline", "codex", "continue", "copilot", "cortext", "gemini"],
  ...["nanocoder", "opencode", "pi", "qwen", "session-file", "vscode"],
];

/** Everything below a folder: each file's content, by its path. @param {string} folder */
const treeOf = (folder) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
    .map((path) => [path, readFileSync(path, "latin1")]);

/** @param {ImportableSession[]} listed */
const toldOf = (listed) =>
  listed.map(({ id, agent, path, messageCount, newMessages }) => [path, id, agent, messageCount, newMessages]).sort();

/** @param {ImportedSession[]} imported */
const takenOf = (imported) =>
  imported
    .filter(({ added }) => added > 0)
    .map(({ id, agent, path, messageCount, added }) => [path, id, agent, messageCount, added])
    .sort();

/** The files below a folder. @param {string} folder */
const filesIn = (folder) => treeOf(folder).map(([path = ""]) => path);

/** @template T @param {Promise<T>} work @returns {Promise<T | string>} the code of its error */
const codeOr = (work) => work.catch((error) => /** @type {string} */ (error.code));

for (const agent of AGENTS)
  test(`${agent}: of each file is listed what its import then adds`, () =>
    inFolder(async (folder) => {
      const home = join(folder, "home");
      const store = await openStore({ home, project: folder });
      await store.create({ title: "Another" });
      const theirs = join(folder, "theirs");
      cpSync(join(FIXTURES, agent), theirs, { recursive: true });
      let count = 0;
      for (const path of filesIn(theirs)) {
        const before = treeOf(home);
        const listed = await codeOr(store.listImportable(path));
        assert.deepEqual(treeOf(home), before, "nothing is written");
        const done = await codeOr(store.import(path));
        if (typeof listed === "string" || typeof done === "string") {
          assert.equal(listed, done, path);
          continue;
        }
        assert.deepEqual(toldOf(listed.importable), takenOf(done.imported));
        assert.deepEqual(listed.problems, done.problems);
        await checkTitles(store, listed.importable);
        count += listed.importable.length;
      }
      assert.ok(count > 0);
      assert.deepEqual((await store.listImportable(theirs)).importable, []);
      await store.close();
    }));

/** A new session has the title by which it was listed. @param {Store} store @param {ImportableSession[]} listed */
async function checkTitles(store, listed) {
  const stored = new Map((await store.list({ type: null, archived: null })).map((one) => [one.id, one]));
  for (const { id, isNew, title } of listed) {
    const session = stored.get(id);
    if (isNew && session) assert.equal(title || session.type, session.title, id);
  }
}

test("each prefix of a transcript lists what an import of it then adds", () =>
  inFolder(async (folder) => {
    const name = "445adb5c-b44b-4625-86f4-77b2ace446f0.jsonl";
    const lines = readFileSync(join(FIXTURES, "claude-code/real/2.1.197", name), "utf8")
      .trimEnd()
      .split("\n");
    const store = await openStore({ home: join(folder, "home"), project: folder });
    const path = join(folder, name);
    let isNew = true;
    for (let end = 1; end <= lines.length; end += 1) {
      writeFileSync(path, `${lines.slice(0, end).join("\n")}\n`);
      const [listed, done] = [await codeOr(store.listImportable(path)), await codeOr(store.import(path))];
      if (typeof listed === "string" || typeof done === "string") {
        assert.equal(listed, done);
        continue;
      }
      assert.deepEqual(toldOf(listed.importable), takenOf(done.imported), `${end} lines`);
      for (const one of listed.importable) assert.equal(one.isNew, isNew);
      if (done.imported.length > 0) isNew = false;
    }
    assert.equal(isNew, false);
    await store.close();
  }));

test("what was said in a session that was resumed elsewhere is listed for that session, which stays as it is", () =>
  inFolder(async (folder) => {
    const home = join(folder, "home");
    const store = await openStore({ home, project: folder });
    const session = await store.create({ title: "The parser" });
    await session.append({ role: "user", content: "Rename the parser." });
    const env = { CLAUDE_CONFIG_DIR: join(folder, "theirs") };
    const { path } = await store.writeForAgent(session, { agent: "claude-code", env });
    const last = JSON.parse(readFileSync(path, "utf8").trimEnd().split("\n").at(-1) ?? "");
    const more = { ...last, uuid: "u-next", parentUuid: last.uuid, type: "user" };
    more.message = { role: "user", content: "And its tests." };
    writeFileSync(path, `${readFileSync(path, "utf8")}${JSON.stringify(more)}\n`);
    await session.close();
    const before = treeOf(home);
    const { importable } = await store.listImportable(path);
    assert.deepEqual(treeOf(home), before, "nothing is written");
    assert.deepEqual(
      importable.map(({ id, isNew, newMessages }) => [id, isNew, newMessages]),
      [[session.id, false, 1]],
    );
    await store.close();
  }));
