// @ts-check
// What is imported belongs to the project that its agent names, at the times that its agent says; else to none, at
// none.
// Tries: src/operation/store/import/target_session.rs, src/interop/typed_prompts.rs, src/interop/companion_files.rs
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import { openStore, readTranscript } from "../../js/index.js";

/** @import { Store } from "../../js/store/store.js" */

const fixtures = fileURLToPath(new URL("../fixtures/", import.meta.url));
const AGENTS = [
  "aider",
  "ask",
  "claude-code",
  "cline",
  "codex",
  "continue",
  "copilot",
  "cortext",
  "gemini",
  "nanocoder",
  "opencode",
  "pi",
  "qwen",
  "vscode",
];
const NONE = ["empty_file", "unknown_format"];

/** @param {(store: Store, put: (path: string, text: string) => string, project: string) => Promise<void>} work */
async function inProject(work) {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "leftoff-places-")));
  const project = join(folder, "project");
  mkdirSync(project);
  const store = await openStore({ home: join(folder, "home"), project });
  const put = (/** @type {string} */ path, /** @type {string} */ text) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
    return join(folder, path);
  };
  try {
    await work(store, put, project);
  } finally {
    await store.close();
    rmSync(folder, { recursive: true });
  }
}

/** @param {string} agent */
function filesOf(agent) {
  const folder = join(fixtures, agent);
  const all = readdirSync(folder, { recursive: true, encoding: "utf8" })
    .sort()
    .map((name) => join(folder, name));
  return all.filter((path) => statSync(path).isFile() && !path.endsWith("SOURCES.txt"));
}

const lines = (/** @type {object[]} */ ...records) => records.map((record) => `${JSON.stringify(record)}\n`).join("");
const HEAD = {
  sessionId: "0b9e3c6a-0000-4000-8000-000000000001",
  projectHash: "h",
  startTime: "2026-01-02T00:00:00.000Z",
  lastUpdated: "2026-01-02T00:00:00.000Z",
  kind: "main",
};
const CONTEXT = {
  id: "c",
  timestamp: "2026-01-02T00:00:01.000Z",
  type: "user",
  content: "<session_context>\nToday is Friday.\n</session_context>",
};
const asks = (/** @type {string} */ id, /** @type {string} */ content, second = 2) => ({
  id,
  timestamp: `2026-01-02T00:00:0${second}.000Z`,
  type: "user",
  content,
});
const answers = (/** @type {string} */ id, /** @type {string} */ content, second = 3) => ({
  ...asks(id, content, second),
  type: "gemini",
});

for (const agent of AGENTS) {
  test(`what ${agent} keeps goes where it says, at the times that it says`, () =>
    inProject(async (store, _, project) => {
      const began = Date.now();
      const seen = new Set();
      for (const path of filesOf(agent)) {
        const { imported } = await store
          .import(path)
          .catch((error) => (assert.ok(NONE.includes(error.code), error), { imported: [] }));
        // Some files tell of one session each a part.
        for (const { id } of imported.filter(({ id }) => !seen.has(id))) {
          seen.add(id);
          const session = await store.session(id);
          const {
            timestamps,
            project: { path: folder },
          } = session.metadata;
          assert.notEqual(folder, project, path);
          const said = [];
          for await (const { timestamp } of session.messages()) said.push(timestamp);
          const times = [timestamps.createdAt, timestamps.lastMessageAt, timestamps.lastAccessedAt, ...said]
            .filter(Boolean)
            .map((time) => Date.parse(String(time)));
          assert.ok(
            times.every((time) => time < began),
            `${path}: ${times}`,
          );
          const first = Date.parse(timestamps.createdAt);
          assert.ok(
            times.every((time) => Number.isNaN(first) || first <= time),
            `${path}: ${timestamps.createdAt} is later than what was said`,
          );
        }
      }
      assert.ok(seen.size > 0);
      assert.deepEqual(
        await store.list({ type: null, archived: null }),
        [],
        "none is of the folder that it was imported from",
      );
    }));
}

test("a session of which nobody says when it was is listed last, and so is one that only says when it began", () =>
  inProject(async (store, put) => {
    const bare = put(
      "bare.json",
      JSON.stringify([
        { role: "user", content: "<task>bare</task>" },
        { role: "assistant", content: "done" },
      ]),
    );
    const aider = put(
      "repo/.aider.chat.history.md",
      "\n# aider chat started at 2024-05-06 07:08:09\n\n#### old  \n\nyes\n",
    );
    const gemini = put("gemini.jsonl", lines(HEAD, asks("u", "newer"), answers("a", "yes")));
    for (const path of [bare, aider, gemini]) await store.import(path);
    const listed = await store.list({ all: true });
    assert.deepEqual(
      listed.map(({ createdAt, lastActive }) => [createdAt, lastActive]),
      [
        ["2026-01-02T00:00:00.000Z", "2026-01-02T00:00:03.000Z"],
        ["2024-05-06T07:08:09.000Z", "2024-05-06T07:08:09.000Z"],
        ["", ""],
      ],
    );
    assert.equal(listed[1]?.project, join(dirname(aider)));
    assert.equal(listed[2]?.project, undefined);
    // The same where only some are looked for.
    assert.deepEqual(
      (await store.list({ all: true, limit: 3 })).map(({ id }) => id),
      listed.map(({ id }) => id),
    );
  }));

test("Gemini CLI's project is the one that its folder names, or its list", () =>
  inProject(async (store, put) => {
    const talk = (/** @type {string} */ id) =>
      lines({ ...HEAD, sessionId: id }, asks("u", "hi"), answers("a", "hello"));
    put(
      ".gemini/projects.json",
      JSON.stringify({ projects: { "/home/ann/listed": "listed", "/home/ann/other": "other" } }),
    );
    put(".gemini/tmp/rooted/.project_root", "/home/ann/rooted\n");
    const folders = [];
    for (const slug of ["rooted", "listed", "unknown"]) {
      const {
        imported: [one],
      } = await store.import(put(`.gemini/tmp/${slug}/chats/session-${slug}.jsonl`, talk(slug)));
      folders.push((await store.session(one?.id ?? "")).metadata.project.path);
    }
    assert.deepEqual(folders, ["/home/ann/rooted", "/home/ann/listed", ""]);
    assert.deepEqual((await store.list({ all: true })).map(({ project }) => project).sort(), [
      "/home/ann/listed",
      "/home/ann/rooted",
      undefined,
    ]);
  }));

test("what was typed before its client was killed is said last, by what the client keeps for all sessions", () =>
  inProject(async (store, put) => {
    const id = "019ca869-5000-76c2-8957-1792014b394a";
    const timestamp = "2026-03-01T09:00:05.500Z";
    const content = [{ type: "input_text", text: "hi" }];
    const rollout = put(
      `.codex/sessions/2026/03/01/rollout-2026-03-01T09-00-00-${id}.jsonl`,
      lines(
        { timestamp, type: "session_meta", payload: { id, cwd: "/home/ann", timestamp } },
        { timestamp, type: "response_item", payload: { type: "message", role: "user", content } },
      ),
    );
    const ts = Date.parse(timestamp) / 1000 - 0.5;
    const others = Array.from({ length: 20_000 }, (_, number) => ({
      session_id: "another",
      ts: ts - 20_000 + number,
      text: "x".repeat(100),
    }));
    put(
      ".codex/history.jsonl",
      lines(...others, { session_id: id, ts, text: "hi" }, { session_id: id, ts: ts + 60, text: "and 🏁" }),
    );
    const gemini = put(".gemini/tmp/p/chats/session-1.jsonl", lines(HEAD, asks("u", "hi"), answers("a", "hello")));
    const typed = (/** @type {string} */ message, /** @type {string} */ timestamp) => ({
      sessionId: HEAD.sessionId,
      messageId: 0,
      type: "user",
      message,
      timestamp,
    });
    put(
      ".gemini/tmp/p/logs.json",
      JSON.stringify([typed("hi", "2026-01-02T00:00:01.900Z"), typed("and 🏁", "2026-01-02T00:00:09.000Z")]),
    );
    for (const path of [rollout, gemini]) {
      const {
        imported: [one],
      } = await store.import(path);
      const said = [];
      for await (const { role, content } of (await store.session(one?.id ?? "")).messages()) said.push([role, content]);
      assert.deepEqual(
        [said[0], said.at(-1)],
        [
          ["user", "hi"],
          ["user", "and 🏁"],
        ],
      );
      assert.equal((await store.import(path)).imported[0]?.added, 0);
    }
  }));

test("what a client tells the model by itself is no session, until somebody says something", () =>
  inProject(async (store, put) => {
    const path = ".gemini/tmp/p/chats/session-a.jsonl";
    put(path, lines(HEAD, CONTEXT));
    const folder = dirname(put(path, lines(HEAD, CONTEXT)));
    assert.deepEqual(await store.import(folder), { imported: [], problems: [], unchanged: 0 });
    await assert.rejects(store.import(join(folder, "session-a.jsonl")), { code: "empty_file" });
    put(path, lines(HEAD, CONTEXT, asks("u", "hi"), answers("a", "hello")));
    const {
      imported: [one],
    } = await store.import(folder);
    assert.equal(one?.messageCount, 3);
    assert.deepEqual(
      (await store.list({ all: true })).map(({ title }) => title),
      ["hi"],
    );
  }));

test("a session that was taken up again in another process, in a file of its own, is one session", () =>
  inProject(async (store, put) => {
    const first = put(".gemini/tmp/p/chats/session-1.jsonl", lines(HEAD, asks("u", "hi"), answers("a", "hello")));
    const later = { ...HEAD, startTime: "2026-01-03T00:00:00.000Z" };
    const second = put(
      ".gemini/tmp/p/chats/session-2.jsonl",
      lines(later, asks("u", "hi"), answers("a", "hello"), asks("v", "more", 4), answers("b", "yes", 5)),
    );
    const {
      imported: [one],
    } = await store.import(first);
    await store.import(second);
    await store.import(first);
    const [session, ...others] = await store.list({ all: true });
    assert.deepEqual([session?.id, others], [one?.id, []]);
    const said = [];
    for await (const { content, branch } of (await store.session(session?.id ?? "")).messages())
      said.push([content, branch]);
    assert.deepEqual(
      said.map(([content]) => content),
      ["hi", "hello", "more", "yes"],
    );
    assert.deepEqual(
      said.map(([, branch]) => branch),
      [undefined, undefined, undefined, undefined],
    );
    // Another process finds it, too.
    const again = await openStore({ home: store.home, project: store.project });
    await again.import(second);
    assert.equal((await again.list({ all: true })).length, 1);
    await again.close();
  }));

test("a sub-agent's call is the one that the file beside it names", () =>
  inProject(async (store, put) => {
    const record = (/** @type {object} */ more) => ({
      sessionId: "s1",
      cwd: "/home/ann/p",
      version: "2.1.329",
      isSidechain: true,
      agentId: "x1",
      timestamp: "2026-01-02T00:00:01.000Z",
      ...more,
    });
    const text = lines(
      record({ type: "user", uuid: "u1", parentUuid: null, message: { role: "user", content: "look" } }),
      record({
        type: "assistant",
        uuid: "a1",
        parentUuid: "u1",
        message: { id: "m1", role: "assistant", content: [{ type: "text", text: "found" }] },
      }),
    );
    put("projects/p/s1/subagents/agent-x1.meta.json", JSON.stringify({ agentType: "Explore", toolUseId: "toolu_7" }));
    const {
      imported: [one],
    } = await store.import(put("projects/p/s1/subagents/agent-x1.jsonl", text));
    assert.equal(one?.parent?.callId, "toolu_7");
    assert.deepEqual((await store.session(one?.id ?? "")).metadata.parent?.callId, "toolu_7");
  }));

test("a transcript that is read and not stored says the same times", async () => {
  const { session, slice } = await readTranscript(
    new TextEncoder().encode("# aider chat started at 2024-05-06 07:08:09\n\n#### hi  \n\nyes\n"),
  ).then((read) => ({ session: read.session, slice: read.slice(0, 9) }));
  assert.equal(session.agent, "aider");
  assert.ok(slice.every((message) => message.timestamp === undefined));
});
