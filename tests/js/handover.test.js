// @ts-check
// A session of one agent is written as another one keeps its own, and says the same when it is imported from there.
// Tries: js/agents/native.js, src/interop/native/, src/operation/store/native_export/
import assert from "node:assert/strict";
import { appendFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import { openStore } from "../../js/index.js";

const fixtures = fileURLToPath(new URL("../fixtures/", import.meta.url));
const CLAUDE = join(fixtures, "claude-code/real/2.1.329/a1ec06f7-8d81-4715-aba2-72b09c413bbd.jsonl");
const CODEX = join(
  fixtures,
  "codex/real/0.169.0/rollout-2026-11-20T23-55-48-01a1fb63-41c8-71e1-8bc3-8044d2bc8ec3.jsonl",
);
/** @type {[string, string][]} */
const HANDED = [
  [CLAUDE, "codex"],
  [CODEX, "claude-code"],
  [CODEX, "codex"],
  [CLAUDE, "gemini"],
  [CODEX, "gemini"],
  [CLAUDE, "qwen"],
  [CODEX, "qwen"],
  [CLAUDE, "copilot"],
  [CODEX, "copilot"],
  [CLAUDE, "opencode"],
  [CODEX, "opencode"],
  [CLAUDE, "pi"],
  [CODEX, "pi"],
];

/** @param {(store: import("../../js/store/store.js").Store, home: string) => Promise<void>} work */
async function withStore(work) {
  const home = mkdtempSync(join(tmpdir(), "leftoff-handover-"));
  const store = await openStore({ home: join(home, ".leftoff"), project: home });
  try {
    await work(store, home);
  } finally {
    await store.close();
    rmSync(home, { recursive: true });
  }
}

/** @param {import("../../js/store/store.js").Store} store @param {string} path */
async function importMessages(store, path) {
  const {
    imported: [one],
  } = await store.import(path);
  const session = await store.session(/** @type {string} */ (one?.id));
  const said = [];
  for await (const { role, content, assistant, tool, timestamp, source } of session.messages()) {
    // What a client told in the user's name is not for another client.
    if (/** @type {any} */ (source)?.isMeta) continue;
    const calls = (assistant?.toolCalls ?? []).map((/** @type {any} */ { name, arguments: text }) => [
      name,
      JSON.parse(text),
    ]);
    if (role !== "system" && !String(content).startsWith("<environment_context>"))
      said.push({ role, content, calls, isError: tool?.isError ?? false, timestamp });
  }
  return { session, said };
}

for (const [path, agent] of HANDED) {
  test(`what is handed to ${agent} says the same there: ${path.slice(fixtures.length).split("/")[0]}`, () =>
    withStore(async (store, home) => {
      const { session, said } = await importMessages(store, path);
      const handed = await store.writeForAgent(session, { agent, env: { HOME: home } });
      assert.ok(handed.path.startsWith(home) && handed.path.includes(handed.id.slice(-8)), handed.path);
      assert.ok(handed.command.at(-1)?.endsWith(handed.id));
      assert.equal(handed.included, handed.messageCount);
      // In another store: in this one it goes on with the session.
      await withStore(async (other) => {
        const again = await importMessages(other, handed.path);
        assert.notEqual(again.session.id, session.id);
        assert.deepEqual(again.said, said);
      });
    }));
}

test("what is said where a session was handed to goes on with it, and nothing of it is there twice", () =>
  withStore(async (store, home) => {
    const { session, said } = await importMessages(store, CODEX);
    const handed = await store.writeForAgent(session, { agent: "claude-code", env: { HOME: home } });
    assert.deepEqual(
      (await store.import(handed.path)).imported.map(({ id, added }) => [id, added]),
      [[session.id, 0]],
    );
    const last = JSON.parse(readFileSync(handed.path, "utf8").trim().split("\n").at(-1) ?? "");
    const beside = {
      sessionId: last.sessionId,
      cwd: last.cwd,
      version: last.version,
      timestamp: new Date().toISOString(),
    };
    const uuids = ["0199cccc-0000-4000-8000-000000000001", "0199cccc-0000-4000-8000-000000000002"];
    appendFileSync(
      handed.path,
      [
        {
          type: "user",
          uuid: uuids[0],
          parentUuid: last.uuid,
          message: { role: "user", content: "And in the other one?" },
          ...beside,
        },
        {
          type: "assistant",
          uuid: uuids[1],
          parentUuid: uuids[0],
          message: {
            id: "m",
            type: "message",
            role: "assistant",
            content: [{ type: "text", text: "There, too." }],
            model: "claude-opus-5-5",
          },
          ...beside,
        },
      ]
        .map((line) => `${JSON.stringify(line)}\n`)
        .join(""),
    );
    assert.deepEqual(
      (await store.import(handed.path)).imported.map(({ id, added }) => [id, added]),
      [[session.id, 2]],
    );
    assert.deepEqual(
      (await store.import(handed.path)).imported.map(({ added }) => added),
      [0],
    );
    const all = (await importMessages(store, handed.path)).said;
    assert.deepEqual(all.slice(0, said.length), said);
    assert.deepEqual(
      all.slice(said.length).map(({ role, content }) => [role, content]),
      [
        ["user", "And in the other one?"],
        ["assistant", "There, too."],
      ],
    );
    assert.equal((await store.list({ all: true })).length, 1);
    await store.delete(await store.session(session.id));
    const [own] = (await store.import(handed.path)).imported;
    assert.ok(
      own?.id !== session.id && own?.added === own?.messageCount && Number(own?.added) > 2,
      "without it, it is a session of its own",
    );
    assert.deepEqual(
      (await store.doctor()).flatMap(({ problems }) => problems),
      [],
    );
  }));

test("Gemini CLI finds it under the name by which it calls the folder, or would", () =>
  withStore(async (store, home) => {
    const { session } = await importMessages(store, CLAUDE);
    const project = join(home, "My Project_2");
    const tmp = join(home, ".gemini", "tmp");
    const place = async (/** @type {string} */ folder) => {
      const { path } = await store.writeForAgent(session, { agent: "gemini", folder, env: { HOME: home } });
      return path.slice(tmp.length + 1).split(/[/\\]/)[0];
    };
    const named = (/** @type {string} */ path) => (process.platform === "win32" ? path.toLowerCase() : path);
    // Another folder has the name that this one would get.
    mkdirSync(join(tmp, "my-project-2"), { recursive: true });
    writeFileSync(join(tmp, "my-project-2", ".project_root"), join(home, "other"));
    writeFileSync(
      join(home, ".gemini", "projects.json"),
      JSON.stringify({ projects: { [named(join(home, "third"))]: "my-project-2-1" } }),
    );
    assert.equal(await place(project), "my-project-2-2");
    assert.equal(readFileSync(join(tmp, "my-project-2-2", ".project_root"), "utf8"), named(project));
    assert.equal(await place(project), "my-project-2-2");
    assert.equal(await place(join(home, "other")), "my-project-2");
    assert.equal(await place(join(home, "third")), "my-project-2-1");
    assert.equal(await place(join(home, "§")), "project");
  }));

test("what a client cannot take is fitted, and what was left out is said", () =>
  withStore(async (store, home) => {
    const session = await store.create();
    const words = "some words that nobody needs to read twice ".repeat(40);
    for (let turn = 0; turn < 60; turn += 1) {
      await session.append([
        { role: "user", content: `${turn} ${words}` },
        { role: "assistant", content: words, assistant: { reasoning: [{ text: "hm" }] } },
      ]);
    }
    const handed = await store.writeForAgent(session, { agent: "codex", window: 8_000, env: { HOME: home } });
    assert.ok(handed.included < handed.messageCount, `${handed.included}`);
    const records = readFileSync(handed.path, "utf8")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    const items = records.filter(({ type }) => type === "response_item").map(({ payload }) => payload);
    assert.ok(items.length > 2 && items.length < 40, `${items.length}`);
    assert.match(JSON.stringify(items.at(-2)), /"59 some words/);
    assert.ok(handed.losses.some(({ field }) => field === "assistant.reasoning"));
  }));

test("an agent that is not known, or cannot be written, is refused, and no file is ever written over", () =>
  withStore(async (store, home) => {
    const { session } = await importMessages(store, CLAUDE);
    await assert.rejects(store.writeForAgent(session, { agent: "nobody" }), {
      code: "invalid_request",
      message: /codex/,
    });
    for (const agent of /** @type {any[]} */ ([undefined, null, 7, 7n, {}, Symbol("x"), () => "codex"])) {
      await assert.rejects(store.writeForAgent(session, { agent }), {
        code: "invalid_request",
        message: /a text for "agent"/,
      });
    }
    await assert.rejects(store.writeForAgent(session, { agent: "aider" }), {
      code: "unknown_format",
      message: /aider/,
    });
    const { path } = await store.writeForAgent(session, { agent: "codex", env: { CODEX_HOME: join(home, "c") } });
    assert.ok(path.startsWith(join(home, "c", "sessions")));
    writeFileSync(join(home, "c", "file"), "");
    await assert.rejects(
      store.writeForAgent(session, { agent: "codex", env: { CODEX_HOME: join(home, "c", "file") } }),
      { code: "not_a_folder" },
    );
  }));

test("a session for OpenCode goes on with the model that it is set to", () =>
  withStore(async (store, home) => {
    const { session } = await importMessages(store, CLAUDE);
    const asked = async () => {
      const { path } = await store.writeForAgent(session, { agent: "opencode", env: { HOME: home } });
      const { messages } = JSON.parse(readFileSync(path, "utf8"));
      return messages.find((/** @type {any} */ { info }) => info.role === "user").info.model;
    };
    assert.deepEqual(await asked(), { providerID: "unknown", modelID: "unknown" });
    const write = (/** @type {string} */ name, /** @type {string} */ text) => {
      mkdirSync(dirname(join(home, name)), { recursive: true });
      writeFileSync(join(home, name), text);
    };
    write(".local/state/opencode/model.json", JSON.stringify({ recent: [{ providerID: "one", modelID: "last" }] }));
    assert.deepEqual(await asked(), { providerID: "one", modelID: "last" });
    write(".config/opencode/opencode.jsonc", '{\n  // which one\n  "model": "two/set/to"\n}');
    assert.deepEqual(await asked(), { providerID: "two", modelID: "set/to" });
    write("opencode.json", '{ "model": "three/here" }');
    assert.deepEqual(await asked(), { providerID: "three", modelID: "here" });
  }));
