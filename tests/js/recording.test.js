// @ts-check
// A conversation in an agent's client is recorded by the hooks that `leftoff init` puts there, from the client's own
// file.
// Tries: js/cli/hook.js, js/agents/open-conversation.js, src/operation/store/import/recording.rs
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import { openStore } from "../../js/index.js";
import { inFolder } from "./git-tools.js";
import { nodePath } from "./node-path.js";
import { recordersEnded } from "./recorders.js";

const entry = fileURLToPath(new URL("../../pkg/cli.js", import.meta.url));
const OLD = "---\ndescription: think\n---\nAsk one question at a time. Topic: $ARGUMENTS\n";

/** @param {string} name @param {string} args */
const command = (name, args) =>
  `<command-message>${name}</command-message>\n<command-name>/${name}</command-name>\n<command-args>${args}</command-args>`;

/** One client, with a home and a project of its own. */
class Client {
  /** @type {string | null} */
  #last = null;
  #minute = 0;
  /** @param {string} folder @param {string} id */
  constructor(folder, id) {
    this.home = folder;
    this.id = id;
    this.project = join(folder, "project");
    this.path = join(folder, ".claude", "projects", "-project", `${id}.jsonl`);
    mkdirSync(this.project, { recursive: true });
    mkdirSync(dirname(this.path), { recursive: true });
  }

  /** @param {"user" | "assistant"} role @param {any} content @param {object} [beside] */
  say(role, content, beside = {}) {
    const number = (this.#minute += 1);
    const uuid = `${this.id.slice(0, 24)}${String(number).padStart(12, "0")}`;
    const message =
      role === "user"
        ? { role, content }
        : { id: `m${number}`, type: "message", role, model: "claude-opus-5-5", content, stop_reason: "end_turn" };
    const timestamp = new Date(Date.now() - 60_000 + number * 100).toISOString();
    appendFileSync(
      this.path,
      `${JSON.stringify({ type: role, uuid, parentUuid: this.#last, sessionId: this.id, cwd: this.project, version: "2.1.329", timestamp, message, ...beside })}\n`,
    );
    this.#last = uuid;
  }

  /**
   * A command as the client writes it: its name, and the text of its file behind it.
   * @param {string} name
   * @param {string} args
   * @param {string} text
   */
  types(name, args, text) {
    this.say("user", command(name, args));
    this.say("user", [{ type: "text", text }], { isMeta: true });
  }

  /** @param {string} text */
  answers(text) {
    this.say("assistant", [{ type: "text", text }]);
  }

  /** @param {string} event @param {object} [beside] @param {Record<string, string>} [env] */
  hook(event, beside = {}, env = {}) {
    const input = JSON.stringify({
      session_id: this.id,
      transcript_path: this.path,
      cwd: this.project,
      hook_event_name: event,
      ...beside,
    });
    return this.leftoff(["hook", "claude-code"], { input, env });
  }

  /** @param {string[]} args @param {{ input?: string, env?: Record<string, string> }} [with_] */
  leftoff(args, { input = "", env = {} } = {}) {
    const known = {
      PATH: process.env.PATH ?? "",
      HOME: this.home,
      USERPROFILE: this.home,
      CLAUDE_CODE_SESSION_ID: this.id,
    };
    return spawnSync(nodePath, [entry, ...args], {
      cwd: this.project,
      input,
      env: { ...known, ...env },
      encoding: "utf8",
    });
  }

  /** @param {string} path @param {string} text */
  put(path, text) {
    mkdirSync(dirname(join(this.project, path)), { recursive: true });
    writeFileSync(join(this.project, path), text);
  }

  /** @template T @param {(store: import("../../js/store/store.js").Store) => Promise<T>} work */
  async store(work) {
    // Hooks leave most of the recording to another process.
    await recordersEnded(join(this.home, ".leftoff"));
    const store = await openStore({ home: join(this.home, ".leftoff"), project: this.project });
    try {
      return await work(store);
    } finally {
      await store.close();
    }
  }

  /** Of each session what lists say, and its messages. */
  sessions() {
    return this.store(async (store) => {
      const all = [];
      for (const listed of (await store.list({ type: null })).reverse()) {
        const session = await store.session(listed.id);
        const said = [];
        for await (const { role, content } of session.messages()) said.push([role, content]);
        all.push({ ...listed, agent: session.metadata.agent, said });
      }
      return all;
    });
  }
}

/** @param {(client: Client, another: (id: string) => Client) => Promise<void>} work */
async function inClient(work) {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "leftoff-recording-")));
  const named = (/** @type {string} */ id) => new Client(folder, id);
  try {
    await work(named("0199aaaa-0000-4000-8000-000000000001"), named);
  } finally {
    await recordersEnded(join(folder, ".leftoff"));
    rmSync(folder, { recursive: true });
  }
}

test("a conversation begun by a command of the workspace is recorded as that type, and lies beside its Markdown once that is there", () =>
  inClient(async (client) => {
    client.put(".claude/commands/workspace.brainstorm.md", OLD);
    client.types("workspace.brainstorm", "the API", "Ask one question at a time. Topic: the API\n");
    client.answers("What is it for?");
    assert.deepEqual([client.hook("Stop").status, client.hook("Stop").stdout], [0, ""]);
    const [first, ...none] = await client.sessions();
    assert.deepEqual(none, []);
    assert.deepEqual([first?.type, first?.placement, first?.messageCount], ["brainstorm", "home", 3]);
    const hash = `sha256:${createHash("sha256").update("Ask one question at a time. Topic: $ARGUMENTS").digest("hex")}`;
    assert.deepEqual(first?.agent, { command: "/workspace.brainstorm", systemPromptHash: hash });
    const place = "conversations/2026-11-22/004-brainstorm-the-api";
    client.put(`${place}/brainstorm.md`, "# API Design\n");
    client.put("conversations/2026-11-22/003-other/other.md", "# Other\n");
    client.say("assistant", [
      {
        type: "tool_use",
        id: "t1",
        name: "Write",
        input: { file_path: join(client.project, place, "brainstorm.md"), content: "# API Design\n" },
      },
    ]);
    client.say("user", [{ type: "tool_result", tool_use_id: "t1", content: "created" }]);
    client.answers("Written.");
    client.hook("SessionEnd");
    const [session, ...others] = await client.sessions();
    assert.deepEqual(others, []);
    assert.deepEqual(
      [session?.path, session?.title, session?.status, session?.messageCount],
      [join(client.project, place, ".session"), "API Design", "paused", 6],
    );
    client.answers("One more.");
    client.hook("Stop");
    assert.deepEqual(
      (await client.sessions()).map(({ messageCount, status, id }) => [messageCount, status, id]),
      [[7, "paused", session?.id]],
    );
    client.say("user", "Go on.");
    client.hook("UserPromptSubmit", { prompt: "Go on." });
    assert.deepEqual(
      (await client.sessions()).map(({ messageCount, status }) => [messageCount, status]),
      [[8, "active"]],
    );
  }));

test("one that is stopped lies in the workspace, also where nobody wrote Markdown for it", () =>
  inClient(async (client) => {
    client.put(".claude/commands/workspace.plan.md", "Plan: $ARGUMENTS\n");
    client.types("workspace.plan", "the Next Release", "Plan: the Next Release\n");
    client.answers("Which one?");
    client.hook("SessionEnd");
    assert.equal((await client.sessions())[0]?.placement, "home", "it may be written yet");
    assert.match(client.leftoff(["stop", "--from", "claude-code"]).stdout, /has been paused/);
    const [session, ...others] = await client.sessions();
    assert.deepEqual(others, []);
    assert.match(session?.path ?? "", /conversations[/\\]\d{4}-\d\d-\d\d[/\\]001-plan-the-next-release[/\\]\.session$/);
    assert.deepEqual([session?.status, session?.messageCount], ["paused", 3]);
    client.say("user", "2.0");
    client.hook("UserPromptSubmit", { prompt: "2.0" });
    assert.deepEqual(
      (await client.sessions()).map(({ path, messageCount }) => [path, messageCount]),
      [[session?.path, 4]],
    );
  }));

test("another conversation is recorded in the home, as a chat, with its model", () =>
  inClient(async (client) => {
    client.say("user", "hello");
    client.answers("hi");
    client.hook("UserPromptSubmit", { prompt: "and now?" });
    const [session] = await client.sessions();
    assert.deepEqual(
      [session?.type, session?.placement, session?.status, session?.said],
      [
        "chat",
        "home",
        "active",
        [
          ["user", "hello"],
          ["assistant", "hi"],
        ],
      ],
    );
  }));

test("what the agent is by now is kept: tools that it has called since, and another model, whose window nobody has said", () =>
  inFolder(async (folder) => {
    const line = (/** @type {number} */ number, /** @type {string} */ tool, /** @type {string} */ model = "") =>
      `${JSON.stringify({ type: "assistant", uuid: `u-${number}`, sessionId: "s-1", timestamp: `2026-03-01T08:00:0${number}Z`, message: { role: "assistant", ...(model && { model }), content: [{ type: "tool_use", id: `c-${number}`, name: tool, input: {} }] } })}\n`;
    const path = join(folder, "a.jsonl");
    const store = await openStore({ home: join(folder, "store"), project: folder });
    const recorded = async (/** @type {string} */ more) => {
      appendFileSync(path, more);
      return store.record({ agent: "claude-code", path });
    };
    const asked = {
      type: "user",
      uuid: "u-0",
      sessionId: "s-1",
      cwd: folder,
      timestamp: "2026-03-01T08:00:00Z",
      message: { role: "user", content: "Look." },
    };
    const session = await recorded(`${JSON.stringify(asked)}\n${line(1, "Read")}`);
    assert.ok(session);
    await session.setAgent({ ...session.metadata.agent, model: "opus", contextWindow: 64_000 });
    for (const [more, model, tools, window] of /** @type {[string, string, string[], number][]} */ ([
      [line(2, "Bash"), "opus", ["Bash", "Read"], 64_000],
      [line(3, "Read", "opus"), "opus", ["Bash", "Read"], 64_000],
      [line(4, "Edit", "sonnet"), "sonnet", ["Bash", "Edit", "Read"], 0],
    ])) {
      await recorded(more);
      await session.refresh();
      assert.deepEqual(
        [session.metadata.provider?.model, session.metadata.agent?.tools, session.metadata.provider?.contextWindow],
        [model, tools, window],
      );
    }
    await store.close();
  }));

test("who declines has nothing stored", () =>
  inClient(async (client) => {
    client.say("user", "hello");
    client.answers("hi");
    assert.equal(client.hook("Stop", {}, { LEFTOFF_RECORD: "off" }).status, 0);
    assert.ok(!existsSync(join(client.home, ".leftoff")));
    client.put(".leftoff/settings.json", '{"record":false}');
    assert.equal(client.hook("Stop").status, 0);
    assert.deepEqual(await client.sessions(), []);
    assert.match(client.leftoff(["stop", "--from", "claude-code"]).stderr, /recording is off/);
  }));

test("a hook that fails lets the agent go on, and is logged once", () =>
  inClient(async (client) => {
    client.say("user", "hello");
    const log = join(client.home, ".leftoff", "hooks.log");
    for (const input of ["no json", "{}", "no json"]) {
      const { status, stdout, stderr } = client.leftoff(["hook", "claude-code"], { input });
      assert.deepEqual([status, stdout, stderr], [0, "", ""]);
    }
    const lines = readFileSync(log, "utf8").trim().split("\n");
    assert.equal(lines.length, 2);
    const { message, ...failure } = JSON.parse(lines[1] ?? "");
    assert.deepEqual(failure, { agent: "claude-code", event: "?", code: "usage" });
    assert.match(message, /^expected the client's JSON on standard input to have "hook_event_name"/);
  }));

test("whatever a client or a file is called, each failure is one line of JSON, and no line is anybody else's", () =>
  inClient(async (client) => {
    client.say("user", "hello");
    const hostile = [
      '\n{"agent":"forged"}',
      "\r\nclaude-code Stop: forged (usage)",
      "\u001b[2J\u001b]0;x\u0007",
      "\u009b31m",
      "\u2028forged",
      "\u202egpj",
      '","code":"forged',
    ];
    for (const name of hostile) {
      const input = JSON.stringify({
        hook_event_name: `Stop${name}`,
        transcript_path: join(client.home, `none${name}\0.jsonl`),
        cwd: client.home,
      });
      assert.equal(client.leftoff(["hook", `claude-code${name}`], { input }).status, 0);
    }
    const log = readFileSync(join(client.home, ".leftoff", "hooks.log"), "utf8");
    assert.doesNotMatch(log, /[^\n\P{Cc}]|[\u2028\u2029]|\p{Bidi_Control}/u);
    const lines = log
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    assert.deepEqual(
      lines.map(({ event }) => event),
      hostile.map((name) => `Stop${name}`),
    );
    for (const line of lines) assert.deepEqual(Object.keys(line), ["agent", "event", "code", "message"]);
  }));

test("no secret is in the log of failures where secrets are replaced, and a hook whose settings cannot be read says so there", () =>
  inClient(async (client) => {
    client.say("user", "hello");
    client.put(".leftoff/settings.json", '{"redact":"replace",}');
    const secret = ["gh", "p_0123456789abcdefghijABCDEFGHIJklmnop"].join("");
    for (const path of [join(client.home, `none\0${secret}`), "/"]) {
      const input = JSON.stringify({ hook_event_name: `Stop ${secret}`, transcript_path: path, cwd: client.project });
      assert.equal(client.leftoff(["hook", "claude-code"], { input }).status, 0);
    }
    const log = readFileSync(join(client.home, ".leftoff", "hooks.log"), "utf8");
    assert.ok(!log.includes(secret) && log.includes("[redacted:"), log);
    assert.match(log, /"code":"invalid_setting","message":"expected JSON in .*line 1, column 21/);
  }));

test("after forty turns a save is offered, once", () =>
  inClient(async (client) => {
    client.say("user", "hello");
    client.answers("hi");
    const offers = [];
    for (let turn = 1; turn <= 42; turn += 1)
      if (client.hook("UserPromptSubmit", { prompt: `turn ${turn}` }).stdout) offers.push(turn);
    assert.deepEqual(offers, [40]);
  }));

test("who says that they stop for now has it saved and paused, and that is confirmed; whoever goes on makes it active again", () =>
  inClient(async (client) => {
    const status = async () => (await client.sessions()).map((one) => [one.status, one.summary]);
    client.say("user", "Rename the parser");
    client.answers("It is called dates.js now.");
    assert.equal(client.hook("UserPromptSubmit", { prompt: "let's stop using REST" }).stdout, "");
    assert.deepEqual(await status(), [["active", null]]);
    const stops = "That's enough for today, thanks";
    const { stdout } = client.hook("UserPromptSubmit", { prompt: stops });
    const { hookEventName, additionalContext } = JSON.parse(stdout).hookSpecificOutput;
    assert.equal(hookEventName, "UserPromptSubmit");
    assert.match(
      additionalContext,
      /saved and is paused\. Confirm it.*\/workspace\.resume goes on with it later.*\/workspace\.stop-conversation saves it with a summary/,
    );
    assert.deepEqual(await status(), [["paused", "At the end: It is called dates.js now"]]);
    client.say("user", stops);
    client.answers("Session saved.");
    client.hook("Stop");
    assert.equal((await status())[0]?.[0], "paused", "who says so, and the answer to it, do not go on");
    client.say("user", "One more: its tests, too");
    client.answers("Renamed.");
    client.hook("Stop");
    assert.equal((await status())[0]?.[0], "active");
  }));

test("a conversation of the workspace lies there once its user says that they stop", () =>
  inClient(async (client) => {
    client.put(".claude/commands/workspace.plan.md", "Plan: $ARGUMENTS\n");
    client.types("workspace.plan", "the release", "Plan: the release\n");
    client.answers("Which one?");
    client.hook("UserPromptSubmit", { prompt: "I need to go" });
    assert.deepEqual(
      (await client.sessions()).map(({ status, placement }) => [status, placement]),
      [["paused", "workspace"]],
    );
  }));

test("the MCP servers of a client are kept with what it has, and one that is gone is told of where the session goes on", () =>
  inClient(async (client, another) => {
    const servers = (/** @type {string[]} */ ...names) =>
      client.put(
        ".mcp.json",
        JSON.stringify({ mcpServers: Object.fromEntries(names.map((name) => [name, { command: name }])) }),
      );
    servers("git hub", "docs");
    client.say("user", "Which tickets are open?");
    client.answers("Two.");
    client.hook("Stop");
    assert.deepEqual((await client.sessions())[0]?.agent.tools, ["mcp__git_hub", "mcp__docs"]);
    client.leftoff(["stop", "--from", "claude-code", "--summary", "two tickets"]);
    const next = another("0199bbbb-0000-4000-8000-000000000003");
    const warned = () => {
      const { stdout, stderr } = next.leftoff(["resume", "--print", "--from", "claude-code", "tickets"]);
      assert.match(stdout, /RESUMED CONVERSATION/);
      return [stdout, stderr].map((text) => text.match(/tools that this conversation had are gone: .*/g) ?? []);
    };
    assert.deepEqual(warned(), [[], []], "all are there");
    servers("docs");
    const gone = "tools that this conversation had are gone: mcp__git_hub";
    assert.deepEqual(
      warned().map((all) => all.map((line) => line.includes(gone))),
      [[true], [true]],
    );
    // In another client what that one has counts.
    client.put(".gemini/settings.json", '{"mcpServers": {"git hub": {}, "docs": {}, /* comments are let pass */ } }');
    const handed = (/** @type {string} */ agent) =>
      next.leftoff(["resume", "tickets", "--with", agent, "--print"]).stderr.includes("are gone");
    assert.deepEqual([handed("gemini"), handed("claude-code"), handed("codex")], [false, true, true]);
    client.put(".mcp.json", "{");
    assert.deepEqual(warned(), [[], []], "where nobody can read it, nobody can tell");
  }));

test("after a compaction of the client's the model is told what the conversation came to", () =>
  inClient(async (client) => {
    client.say("user", "Write the parser for dates");
    client.answers("It is in src/dates.js.");
    assert.equal(client.hook("SessionStart", { source: "startup" }).stdout, "");
    assert.match(
      JSON.parse(client.hook("SessionStart", { source: "compact" }).stdout).hookSpecificOutput.additionalContext,
      /Write the parser for dates/,
    );
  }));

test("a session that is resumed in a client goes on there: what is said since is appended to it, and the command is not", () =>
  inClient(async (client, another) => {
    client.put(".claude/commands/workspace.debug.md", "Find the cause of: $ARGUMENTS\n");
    client.types("workspace.debug", "slow login", "Find the cause of: slow login\n");
    client.answers("The index is missing.");
    const stopped = client.leftoff(["stop", "--from", "claude-code", "--summary", "an index is missing"]);
    assert.match(
      stopped.stdout,
      /Session saved\..*has been paused\..*\/workspace\.resume.*Summary: an index is missing/s,
    );
    client.put(".claude/commands/workspace.debug.md", "Find the cause, then mend: $ARGUMENTS\n");

    const next = another("0199bbbb-0000-4000-8000-000000000002");
    const list = next.leftoff(["resume", "--print", "--from", "claude-code", "-"], { input: "\n" }).stdout;
    assert.match(
      list,
      /^1\. \[debug\].*Status: paused.*Which conversation would you like to continue\? Type \/workspace\.resume/s,
    );
    next.types("workspace.resume", "", `${list}\nAbove is leftoff's answer.`);
    next.answers("Which one?");
    next.hook("Stop");
    assert.equal((await next.sessions()).length, 1, "who only looks for a session begins none");
    const { stdout: text, stderr } = next.leftoff(["resume", "--print", "--from", "claude-code", "-"], {
      input: "1\n",
    });
    const places = [
      "Find the cause, then mend: slow login",
      "[RESUMED CONVERSATION]",
      "[END RESUMED CONTEXT]",
      "The index is missing.",
    ].map((part) => text.indexOf(part));
    assert.deepEqual(
      places,
      places.toSorted((a, b) => a - b),
    );
    assert.ok(
      places.every((place) => place >= 0),
      text,
    );
    assert.match(stderr, /changed/);
    next.types("workspace.resume", "1", `${text}\nAbove is leftoff's answer.`);
    next.answers("Resumed: slow login.");
    next.say("user", "mend it");
    next.answers("Mended.");
    next.hook("SessionEnd");
    const [session, ...others] = await next.sessions();
    assert.deepEqual(others, []);
    assert.deepEqual(session?.said.slice(3), [
      ["assistant", "Resumed: slow login."],
      ["user", "mend it"],
      ["assistant", "Mended."],
    ]);
    assert.deepEqual([session?.said.length, session?.status], [6, "paused"]);
    await next.store((store) => store.import(next.path));
    assert.equal((await next.sessions())[0]?.said.length, 6, "importing the client's file adds nothing");
    assert.deepEqual(
      (await next.store((store) => store.doctor())).flatMap(({ problems }) => problems),
      [],
    );
  }));

test("a long session is fitted into what a client takes of a command's output, and what is left out is said", () =>
  inClient(async (client) => {
    client.put(".claude/commands/workspace.plan.md", "Plan: $ARGUMENTS\n");
    client.types("workspace.plan", "it", "Plan: it\n");
    for (let turn = 1; turn <= 80; turn += 1) {
      client.answers(`Answer ${turn}: "${"quoted \u2028 words < ".repeat(30)}"`);
      client.say("user", `Question ${turn} ${"which is long ".repeat(30)}`);
    }
    client.answers("The last word.");
    client.leftoff(["stop", "--from", "claude-code"]);
    const texts = ["claude-code", "opencode"].map((agent) => {
      client.leftoff(["resume", "--print", "--from", agent]);
      return client.leftoff(["resume", "--print", "--from", agent, "1"]).stdout;
    });
    const [fitted = "", whole = ""] = texts;
    assert.ok(Buffer.byteLength(fitted) < 30_000 && fitted.length > 15_000, `${fitted.length}`);
    assert.ok(whole.length > 60_000 && whole.includes("Question 1 "), `${whole.length}`);
    assert.match(
      fitted,
      /^Plan: it\n\n\[RESUMED CONVERSATION\][\s\S]*\nLeft out: \d+ older messages; `leftoff show [^`]+` shows them\./,
    );
    for (const text of texts) assert.ok(text.includes("Question 80 ") && text.includes("The last word."));
  }));

test("what was said in a client before a session was resumed there stays a session of its own", () =>
  inClient(async (client, another) => {
    client.say("user", "first");
    client.answers("one");
    client.leftoff(["stop", "--from", "claude-code"]);
    const next = another("0199bbbb-0000-4000-8000-000000000002");
    next.say("user", "something else");
    next.answers("yes");
    const text = next.leftoff(["resume", "--print", "--from", "claude-code", "first"]).stdout;
    next.types("workspace.resume", "first", `${text}\nAbove is leftoff's answer.`);
    next.answers("Resumed.");
    next.hook("Stop");
    const said = (await next.sessions()).map(({ said }) => said.map(([, content]) => content));
    assert.deepEqual(said.toSorted(), [
      ["first", "one", "Resumed."],
      ["something else", "yes"],
    ]);
    // Without the pointer it is one session: nothing of it is lost.
    for (const name of readdirSync(join(next.home, ".leftoff", "continued")))
      rmSync(join(next.home, ".leftoff", "continued", name));
    await next.store((store) => store.import(next.path));
    assert.equal((await next.sessions()).find(({ said }) => said[0]?.[1] === "something else")?.said.length, 5);
  }));
