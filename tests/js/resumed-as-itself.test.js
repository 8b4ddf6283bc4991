// @ts-check
// A session goes on where it is already: in the client's own file, or in the copy that was written before.
// Tries: src/operation/store/native_export/client_session.rs, src/operation/store/native_export/copies.rs
import assert from "node:assert/strict";
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import { openStore } from "../../js/index.js";

/** @typedef {import("../../js/store/store.js").Store} Store */
/** @typedef {{ store: Store, home: string, project: string, env: Record<string, string> }} Place */

const fixtures = fileURLToPath(new URL("../fixtures/", import.meta.url));
const AGENTS = ["claude-code", "codex", "copilot", "gemini", "pi", "qwen"];
const SAID = [
  { role: "user", content: "Rename the parser." },
  {
    role: "assistant",
    content: "Looking.",
    assistant: { toolCalls: [{ id: "c1", name: "read", arguments: '{"path":"a.js"}' }] },
  },
  { role: "tool", content: "export const a = 1;", tool: { callId: "c1", name: "read" } },
  { role: "assistant", content: "It is called reader now." },
];

/** @param {(place: Place) => Promise<void>} work */
async function withPlace(work) {
  const home = realpathSync(mkdtempSync(join(tmpdir(), "leftoff-itself-")));
  const project = join(home, "project");
  mkdirSync(project);
  const store = await openStore({ home: join(home, ".leftoff"), project });
  try {
    await work({ store, home, project, env: { HOME: home } });
  } finally {
    await store.close();
    rmSync(home, { recursive: true });
  }
}

/** All files below a folder with their bytes. @param {string} folder @returns {Record<string, string>} */
function files(folder) {
  const all = readdirSync(folder, { recursive: true })
    .map(String)
    .filter((name) => statSync(join(folder, name)).isFile());
  return Object.fromEntries(all.sort().map((name) => [name, readFileSync(join(folder, name), "base64")]));
}

/** What an agent keeps of a conversation, by another store. @param {Place} place @param {string} agent */
async function writeTranscript({ home, project, env }, agent) {
  const other = await openStore({ home: join(home, ".other"), project });
  const session = await other.create({ title: "The parser" });
  await session.append(SAID);
  const { path, id } = await other.writeForAgent(session, { agent, env });
  await other.close();
  return { path, id };
}

/** @param {Place} place @param {string} path */
async function importSession({ store }, path) {
  const {
    imported: [one],
  } = await store.import(path);
  return store.session(/** @type {string} */ (one?.id));
}

for (const agent of AGENTS) {
  test(`a session of ${agent} that has no more than its file is resumed as itself, and nothing is written`, () =>
    withPlace(async (place) => {
      const { store, home, project, env } = place;
      const { path, id } = await writeTranscript(place, agent);
      const session = await importSession(place, path);
      const before = files(home);
      for (const previews of [true, false]) {
        const told = await store.writeForAgent(session, { agent, env, previews, resume: { revives: false } });
        assert.deepEqual([told.copy, told.id, told.path, told.folder, told.losses], ["none", id, path, project, []]);
        assert.ok(told.command.at(-1)?.endsWith(id), told.command.join(" "));
      }
      const after = files(home);
      const own = (/** @type {Record<string, string>} */ all) =>
        Object.entries(all).filter(([name]) => !name.startsWith(".leftoff"));
      assert.deepEqual(own(after), own(before));
      // Another agent, a context that is asked for, and a file for its own sake are copies.
      const other = agent === "codex" ? "pi" : "codex";
      assert.equal((await store.writeForAgent(session, { agent: other, env, resume: { revives: false } })).copy, "new");
      assert.equal(
        (await store.writeForAgent(session, { agent, env, window: 100_000, resume: { revives: false } })).copy,
        "new",
      );
      assert.equal((await store.writeForAgent(session, { agent, env, previews: true })).copy, "new");
    }));

  test(`what leftoff has more than the file of ${agent} goes into one copy, however often it is tried`, () =>
    withPlace(async (place) => {
      const { store, home, env } = place;
      const { path, id } = await writeTranscript(place, agent);
      const session = await importSession(place, path);
      await session.append({ role: "user", content: "And the tests?" });
      const resume = { revives: false };
      const first = await store.writeForAgent(session, { agent, env, resume });
      assert.equal(first.copy, "new");
      assert.notEqual(first.id, id);
      const before = files(home);
      for (const previews of [true, false]) {
        const again = await store.writeForAgent(session, { agent, env, previews, resume });
        assert.deepEqual(
          [again.copy, again.id, again.path, again.command, again.takes],
          ["reused", first.id, first.path, first.command, first.takes],
        );
      }
      // What is derived may still be on its way to the disk.
      const names = (/** @type {Record<string, string>} */ all) =>
        Object.keys(all).filter((name) => !name.includes("cache"));
      assert.deepEqual(names(files(home)), names(before));
      await session.append({ role: "assistant", content: "They pass." });
      const third = await store.writeForAgent(session, { agent, env, resume });
      assert.deepEqual([third.copy, third.id === first.id], ["new", false]);
      rmSync(third.path);
      assert.equal((await store.writeForAgent(session, { agent, env, resume })).copy, "new");
    }));
}

test("a fork, a message that says something else and a folder that is gone are copies", () =>
  withPlace(async (place) => {
    const { store, project, env } = place;
    const { path } = await writeTranscript(place, "claude-code");
    const session = await importSession(place, path);
    const how = { agent: "claude-code", env, previews: true, resume: { revives: false } };
    assert.equal((await store.writeForAgent(session, how)).copy, "none");
    assert.equal((await store.writeForAgent(await store.fork(session), how)).copy, "new");
    const log = join(session.path, "messages.jsonl");
    const text = readFileSync(log, "utf8");
    writeFileSync(log, text.replace("reader now", "scanner now"));
    assert.equal((await store.writeForAgent(await store.session(session.id), how)).copy, "new");
    writeFileSync(log, text);
    rmSync(project, { recursive: true });
    assert.equal((await store.writeForAgent(await store.session(session.id), how)).copy, "new");
  }));

test("where the client went on in its own file, or in the copy, it goes on there; and what it said is imported from there", () =>
  withPlace(async (place) => {
    const { store, env } = place;
    const resume = { revives: false };
    const more = (/** @type {string} */ path, /** @type {string} */ content) => {
      const last = readFileSync(path, "utf8")
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line))
        .filter(({ uuid }) => uuid)
        .at(-1);
      const uuid = `0199cccc-0000-4000-8000-${String(content.length).padStart(12, "0")}`;
      appendFileSync(
        path,
        `${JSON.stringify({ type: "user", uuid, parentUuid: last.uuid, sessionId: last.sessionId, cwd: last.cwd, version: last.version, timestamp: new Date().toISOString(), message: { role: "user", content } })}\n`,
      );
    };
    const { path, id } = await writeTranscript(place, "claude-code");
    const session = await importSession(place, path);
    const told = async () => {
      const { copy, id } = await store.writeForAgent(session, { agent: "claude-code", env, resume });
      return [copy, id];
    };
    more(path, "One more.");
    assert.deepEqual(await told(), ["none", id]);
    await store.import(path);
    assert.deepEqual(await told(), ["none", id]);
    await session.append({ role: "user", content: "Said elsewhere." });
    const [copy, other] = await told();
    assert.equal(copy, "new");
    const written = join(dirname(path), `${other}.jsonl`);
    more(written, "Said in the copy.");
    assert.deepEqual(await told(), ["reused", other]);
    await store.import(written);
    assert.deepEqual(await told(), ["reused", other]);
    await session.append({ role: "user", content: "And elsewhere once more." });
    assert.equal((await told())[0], "new");
  }));

test("real files of Claude Code and Codex, in a folder that is there, are resumed as themselves", () =>
  withPlace(async (place) => {
    const { store, home, env } = place;
    /** @type {[string, string, (cwd: string, name: string) => string][]} */
    const real = [
      [
        "claude-code",
        "claude-code/real/2.1.329/a1ec06f7-8d81-4715-aba2-72b09c413bbd.jsonl",
        (cwd, name) => join(home, ".claude/projects", cwd.replace(/[^a-zA-Z0-9]/g, "-"), name),
      ],
      [
        "codex",
        "codex/real/0.169.0/rollout-2026-11-20T23-55-48-01a1fb63-41c8-71e1-8bc3-8044d2bc8ec3.jsonl",
        (_, name) => join(home, ".codex/sessions/2026/11/20", name),
      ],
    ];
    for (const [agent, fixture, where] of real) {
      const text = readFileSync(join(fixtures, fixture), "utf8");
      const cwd = /"cwd":"([^"]+)"/.exec(text)?.[1] ?? "";
      const folder = join(home, "work");
      mkdirSync(folder, { recursive: true });
      const path = where(folder, fixture.split("/").at(-1) ?? "");
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, text.replaceAll(`"cwd":"${cwd}"`, `"cwd":${JSON.stringify(folder)}`));
      const session = await importSession(place, path);
      const told = await store.writeForAgent(session, { agent, env, resume: { revives: false } });
      assert.deepEqual([told.copy, told.path, told.folder], ["none", path, folder], agent);
      assert.ok(path.includes(told.id) && existsSync(told.path));
    }
  }));
