// @ts-check
// Sessions in a workspace, beside their conversation: as the design of `.session/` has them.
// Tries: src/session/documents/, src/session/name_order.rs, src/operation/session_document.rs,
// src/operation/store/create.rs
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import fs from "node:fs";
import { tmpdir } from "node:os";
import { join, sep } from "node:path";
import { test } from "node:test";

import { LeftoffError, openStore } from "../../js/index.js";

/** @typedef {import("../../js/session/session.js").Session} Session */
/**
 * @typedef {{ home: string, project: string, open: (options?: object) => Promise<import("../../js/store/store.js").Store> }} Bench
 */

/** @param {string} law @param {(bench: Bench) => Promise<void>} body */
function check(law, body) {
  test(law, async () => {
    const folder = fs.realpathSync(fs.mkdtempSync(join(tmpdir(), "leftoff-workspace-")));
    const [home, project] = [join(folder, "home"), join(folder, "project")];
    fs.mkdirSync(project);
    /** @type {import("../../js/store/store.js").Store[]} */
    const stores = [];
    try {
      await body({
        home,
        project,
        open: async (options = {}) => {
          const store = await openStore({ home, project, countTokens: false, ...options });
          stores.push(store);
          return store;
        },
      });
    } finally {
      for (const store of stores) await store.close();
      fs.rmSync(folder, { recursive: true });
    }
  });
}

const DAY = /^\d{4}-\d\d-\d\d$/;
const json = (/** @type {string} */ path) => JSON.parse(fs.readFileSync(path, "utf8"));
const lines = (/** @type {string} */ path) =>
  fs
    .readFileSync(path, "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));

/**
 * A conversation typed by hand, after the design's own words.
 * @param {string} project
 * @param {Record<string, string>} files
 */
function writeConversation(project, files) {
  const folder = join(project, "conversations", "2025-11-22", "001-brainstorm-topic");
  for (const [name, text] of Object.entries(files)) {
    fs.mkdirSync(join(folder, name, ".."), { recursive: true });
    fs.writeFileSync(join(folder, name), text);
  }
  return folder;
}

const DOCUMENT = fs.readFileSync(new URL("../fixtures/documents/session-by-hand.json", import.meta.url), "utf8");
const SAID = `{"role": "user", "content": "Let's brainstorm API design", "timestamp": "2025-11-22T10:30:00Z"}
{"role": "assistant", "content": "Great! What's the core problem...", "timestamp": "2025-11-22T10:30:15Z"}
`;

/** @param {Session} session */
async function texts(session) {
  const all = [];
  for await (const { role, content } of session.messages()) all.push(`${role}: ${content}`);
  return all;
}

check("a conversation gets the day's next number, its type and the words of its title", async ({ project, open }) => {
  const store = await open({ workspace: project });
  const names = [];
  for (const about of [
    { type: "brainstorm", title: "API Design: für & wider" },
    { type: "debug" },
    { name: "my-own" },
  ]) {
    const { path } = await store.create(about);
    names.push(path.split(sep).slice(-4));
  }
  assert.deepEqual(
    names.map(([, , name]) => name),
    ["001-brainstorm-api-design-fur-wider", "002-debug", "my-own"],
  );
  assert.ok(
    names.every(
      ([conversations, day = "", , session]) =>
        conversations === "conversations" && DAY.test(day) && session === ".session",
    ),
  );
});

check(
  "session.json has the fields of its design, and is written by events, never for a message",
  async ({ project, open }) => {
    const store = await open({ workspace: project });
    const agent = { command: "/workspace.brainstorm", systemPromptHash: "sha256:abc", model: "m", tools: ["t"] };
    const session = await store.create({ type: "brainstorm", agent });
    const file = join(session.path, "session.json");
    const before = fs.readFileSync(file, "utf8");
    await session.append([
      { role: "user", content: "one" },
      { role: "assistant", content: "two" },
    ]);
    await session.flush();
    await store.close();
    assert.equal(fs.readFileSync(file, "utf8"), before);
    const again = await open();
    await (await again.session(session.id)).stop({ summary: "where it stopped" });
    const document = json(file);
    const expected = {
      version: "1.0",
      conversation_id: "001-brainstorm",
      conversation_type: "brainstorm",
      status: "paused",
      message_count: 2,
      agent_config: { command: "/workspace.brainstorm", system_prompt_hash: "sha256:abc", model: "m", tools: ["t"] },
      context_summary: "where it stopped",
      id: session.id,
    };
    for (const [field, value] of Object.entries(expected)) assert.deepEqual(document[field], value, field);
    assert.equal(document.last_active, lines(join(session.path, "messages.jsonl")).at(-1).timestamp);
  },
);

check("nothing in a workspace names a folder of the machine", async ({ home, project, open }) => {
  const store = await open({ workspace: project });
  const session = await store.create({ type: "debug" });
  await session.append({ role: "user", content: "one" });
  await session.stop();
  await store.close();
  for (const name of fs.readdirSync(session.path)) {
    const text = fs.readFileSync(join(session.path, name), "utf8");
    assert.ok(!text.includes(project) && !text.includes(home), name);
  }
});

check(
  "a session typed by hand after the documents opens, is listed, and is not written to by that",
  async ({ project, open }) => {
    const folder = writeConversation(project, {
      "brainstorm.md": "# API Design Discussion\n",
      ".session/session.json": DOCUMENT,
      ".session/messages.jsonl": SAID,
    });
    const store = await open();
    const [listed] = await store.list();
    assert.ok(listed);
    const { id, ...shown } = listed;
    assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-8/);
    assert.deepEqual(
      [shown.type, shown.title, shown.name, shown.messageCount, shown.placement, shown.lastActive],
      ["brainstorm", "API Design Discussion", "001-brainstorm-api-design", 2, "workspace", "2025-11-22T10:30:15.000Z"],
    );
    assert.equal(shown.summary, "Discussing REST vs GraphQL for internal APIs, leaning toward REST for simplicity");
    for (const one of await (await open()).list()) assert.equal(one.id, id, "the same at every opening");
    const session = await store.session("001-brainstorm-api-design");
    assert.deepEqual(await texts(session), [
      "user: Let's brainstorm API design",
      "assistant: Great! What's the core problem...",
    ]);
    assert.equal(session.metadata.agent.command, "/workspace.brainstorm");
    assert.equal(fs.readFileSync(join(folder, ".session", "messages.jsonl"), "utf8"), SAID);
  },
);

check(
  "a session typed by hand into the home, after the design's metadata.json, opens and goes on",
  async ({ home, project, open }) => {
    const text = fs
      .readFileSync(new URL("../fixtures/documents/metadata-by-hand.json", import.meta.url), "utf8")
      .replace('"archived"', '"active"');
    const { id } = JSON.parse(text);
    const hash = createHash("sha256")
      .update(project.replaceAll("\\", "/").replace(/^[A-Z]:/, (drive) => drive.toLowerCase()))
      .digest("hex")
      .slice(0, 16);
    const folder = join(home, "sessions", "projects", hash, `session-${id}`);
    fs.mkdirSync(folder, { recursive: true });
    fs.writeFileSync(join(folder, "metadata.json"), text);
    const message = {
      id: "m1",
      seq: 0,
      parentId: null,
      timestamp: "2025-11-22T10:30:00.000Z",
      role: "user",
      content: "typed",
      tokens: { count: 1, cumulative: 1 },
    };
    fs.writeFileSync(join(folder, "messages.jsonl"), `${JSON.stringify(message)}\n`);
    const store = await open();
    assert.deepEqual(
      (await store.list()).map((one) => [one.id, one.title, one.messageCount]),
      [[id, "API design", 1]],
    );
    const session = await store.session(id);
    assert.deepEqual(await texts(session), ["user: typed"]);
    await session.append({ role: "assistant", content: "and answered" });
    await store.close();
    const [created, title] = lines(join(folder, "events.jsonl"));
    assert.deepEqual([created.session, created.agent.model, title.title], [id, "qwen2.5-coder:32b", "API design"]);
    assert.deepEqual(json(join(folder, "metadata.json")).context, JSON.parse(text).context);
  },
);

check(
  "what is appended to a session typed by hand stands behind what was there, and an event says how it began",
  async ({ project, open }) => {
    const folder = writeConversation(project, {
      ".session/session.json": DOCUMENT.replace("{", '{"mine": {"deep": [1]},'),
      ".session/messages.jsonl": SAID,
    });
    const store = await open();
    const session = await store.session("001-brainstorm-api-design");
    const { id } = session;
    await session.append({ role: "user", content: "more" });
    await store.close();
    const log = fs.readFileSync(join(folder, ".session", "messages.jsonl"), "utf8");
    assert.ok(log.startsWith(SAID) && log.length > SAID.length);
    const events = lines(join(folder, ".session", "events.jsonl"));
    assert.deepEqual(
      [events[0].type, events[0].session, events[0].sessionType, events[0].timestamp],
      ["created", id, "brainstorm", "2025-11-22T10:30:00Z"],
    );
    const document = json(join(folder, ".session", "session.json"));
    assert.deepEqual([document.mine, document.id, document.created_at], [{ deep: [1] }, id, "2025-11-22T10:30:00Z"]);
    fs.rmSync(join(folder, ".session", "session.json"));
    const again = await open();
    assert.deepEqual((await texts(await again.session(id))).at(-1), "user: more");
    assert.equal((await again.session(id)).metadata.name, "001-brainstorm-api-design");
  },
);

check(
  "what someone changes in a document is in force, becomes an event, and is not overwritten",
  async ({ project, open }) => {
    for (const placement of /** @type {const} */ (["workspace", "home"])) {
      const store = await open({ workspace: project });
      const session = await store.create({ placement, title: "old" });
      await session.append({ role: "user", content: "one" });
      await store.close();
      const file = join(session.path, placement === "home" ? "metadata.json" : "session.json");
      const edited = fs.readFileSync(file, "utf8").replace('"old"', '"new"').replace("{", '{"mine": "kept",');
      fs.writeFileSync(file, edited);
      const again = await open();
      assert.equal((await again.list()).find(({ id }) => id === session.id)?.title, "new", placement);
      const opened = await again.session(session.id);
      await opened.append({ role: "user", content: "two" });
      await again.close();
      assert.ok(
        lines(join(session.path, "events.jsonl")).some(({ type, title }) => type === "edited" && title === "new"),
        placement,
      );
      assert.deepEqual([json(file).mine, JSON.stringify(json(file)).includes('"old"')], ["kept", false], placement);
    }
  },
);

check("what someone changes while the session is open is not overwritten either", async ({ project, open }) => {
  const store = await open({ workspace: project });
  const session = await store.create({ title: "old" });
  const file = join(session.path, "session.json");
  fs.writeFileSync(file, fs.readFileSync(file, "utf8").replace('"old"', '"new"'));
  await session.stop({ summary: "s" });
  assert.deepEqual([json(file).title, json(file).context_summary, json(file).status], ["new", "s", "paused"]);
  assert.equal(session.metadata.display.title, "new");
});

check("a session.json in conflict is written anew from the events", async ({ project, open }) => {
  const store = await open({ workspace: project });
  const session = await store.create({ title: "t" });
  await session.stop({ summary: "s" });
  await store.close();
  const file = join(session.path, "session.json");
  const whole = fs.readFileSync(file, "utf8");
  fs.writeFileSync(file, `<<<<<<< HEAD\n${whole}=======\n${whole}>>>>>>> side\n`);
  const again = await open();
  assert.deepEqual(
    (await again.list()).map(({ title, summary, status }) => [title, summary, status]),
    [["t", "s", "paused"]],
  );
  await again.session(session.id);
  await again.close();
  assert.deepEqual(json(file), JSON.parse(whole));
});

check(
  "a session goes from one placement to the other and back, and nothing is lost",
  async ({ home, project, open }) => {
    const store = await open({ workspace: project });
    const session = await store.create({ type: "debug", title: "t" });
    await session.append([
      { role: "user", content: "one" },
      { role: "user", content: "x".repeat(300_000) },
    ]);
    const call = { id: "c1", name: "Bash", arguments: { command: "ls" } };
    await session.append({ role: "assistant", content: "", assistant: { toolCalls: [{ ...call, arguments: "{}" }] } });
    await session.appendTool({ call, result: { content: "a\n", exitCode: 0 } });
    const pinned = (await (await store.session(session.id)).messages().next()).value;
    await session.pin(pinned.id);
    await session.stop({ summary: "s" });
    const file = join(session.path, "session.json");
    fs.writeFileSync(
      file,
      fs
        .readFileSync(file, "utf8")
        .replace("{", '{"mine": {"deep": 1},')
        .replace('"agent_config": {', '"agent_config": {"also": 2'),
    );
    const said = await texts(session);
    const before = session.metadata;
    const there = await store.move(session, { to: "home" });
    assert.deepEqual([there.id, there.placement, fs.existsSync(file)], [session.id, "home", false]);
    assert.deepEqual(await texts(there), said);
    const folder = json(join(there.path, "metadata.json"));
    assert.deepEqual(
      [folder.display.title, folder.summary, folder.lifecycle, folder.project.path],
      ["t", "s", "paused", project],
    );
    fs.writeFileSync(join(there.path, "metadata.json"), JSON.stringify({ ...folder, context: { lastSummaryAt: "x" } }));
    const back = await store.move(there, { to: "workspace", name: "back-again" });
    assert.deepEqual(await texts(back), said);
    const document = json(join(back.path, "session.json"));
    assert.deepEqual(
      [document.mine, document.agent_config.also, document.conversation_id, document.project],
      [{ deep: 1 }, 2, "back-again", undefined],
    );
    assert.deepEqual(
      (await back.tools()).map(({ result }) => result.content),
      ["a\n"],
    );
    const { asOf, name, project: _, context: ___, ...rest } = /** @type {any} */ (back.metadata);
    const { asOf: _asOf, name: _name, project: __, ...old } = /** @type {any} */ (before);
    assert.deepEqual(rest, old);
    assert.equal((await store.list()).length, 1);
    assert.equal(fs.readdirSync(join(home, "trash")).length, 2);
    const again = await store.move(back, { to: "home" });
    assert.deepEqual(json(join(again.path, "metadata.json")).context, { lastSummaryAt: "x" });
  },
);

check("equal names are ambiguous, and the day tells them apart", async ({ project, open }) => {
  const store = await open({ workspace: project });
  const { path, id } = await store.create({ name: "same" });
  await store.close();
  const other = join(project, "conversations", "2020-01-01", "same", ".session");
  fs.cpSync(path, other, { recursive: true });
  fs.writeFileSync(
    join(other, "events.jsonl"),
    fs
      .readFileSync(join(other, "events.jsonl"), "utf8")
      .replaceAll(id, "01a00000-0000-7000-8000-000000000000")
      .replace(/,"crc":"\w+"/g, ""),
  );
  fs.rmSync(join(other, "session.json"));
  const again = await open();
  await assert.rejects(
    again.session("same"),
    (error) => error instanceof LeftoffError && error.code === "ambiguous" && error.message.includes(other),
  );
  assert.equal((await again.session("2020-01-01/same")).id, "01a00000-0000-7000-8000-000000000000");
});

check("a workspace that was met is listed from anywhere", async ({ home, project, open }) => {
  const store = await open({ workspace: project });
  await store.create({ name: "one" });
  await store.close();
  const elsewhere = await openStore({ home, project: home });
  assert.deepEqual((await elsewhere.list()).length, 0);
  assert.deepEqual(
    (await elsewhere.list({ all: true })).map(({ name }) => name),
    ["one"],
  );
  await elsewhere.close();
});
