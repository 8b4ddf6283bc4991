// @ts-check
// leftoff/compat, by the text of its design: each method, each field, and its own examples as they stand.
// Tries: js/compat/, js/types/compat.d.ts
import assert from "node:assert/strict";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, realpathSync, rmSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import { AutoPersist, SessionManager } from "../../js/compat/index.js";
import { LeftoffError } from "../../js/index.js";

/** @typedef {import("../../js/compat/index.js").Session} Session */

const provider = {
  type: /** @type {const} */ ("ollama"),
  model: "qwen3",
  contextWindow: 32_768,
  baseUrl: "http://127.0.0.1:11434",
};

/**
 * @param {(places: { home: string, project: string, other: string, manager: SessionManager, again: () => SessionManager }) => Promise<void>} work
 */
async function inFolder(work) {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "leftoff-compat-")));
  const [home = "", project = "", other = ""] = ["home", "project", "other"].map((name) => join(folder, name));
  for (const path of [project, other]) mkdirSync(path);
  /** @type {SessionManager[]} */
  const managers = [];
  const again = () => {
    const manager = new SessionManager({ home });
    managers.push(manager);
    return manager;
  };
  try {
    await work({ home, project, other, manager: again(), again });
  } finally {
    for (const manager of managers) await manager.close();
    rmSync(folder, { recursive: true });
  }
}

/** @param {string} code @param {RegExp} [message] */
const refusedAs =
  (code, message = /./) =>
  (/** @type {unknown} */ error) =>
    error instanceof LeftoffError && error.code === code && message.test(error.message);
const isTime = (/** @type {string} */ text) => new Date(text).toISOString() === text;

/** @param {Session} session */
async function talk(session) {
  await session.appendMessage({ role: "user", content: "list the files" });
  await session.appendMessage({
    role: "assistant",
    content: "I look.",
    toolCalls: [{ id: "c1", name: "bash", arguments: { command: "ls" } }],
  });
  await session.appendToolExecution(
    { id: "c1", name: "bash", arguments: { command: "ls" } },
    { content: "a.txt", success: true, durationMs: 7 },
  );
}

test("a new session has every field of SessionMetadata, before and after it is loaded again", () =>
  inFolder(async ({ project, manager, again }) => {
    const session = await manager.createSession(project, provider);
    const { id, createdAt, lastAccessedAt, projectHash, title, ...rest } = session.metadata;
    assert.deepEqual(rest, {
      version: 1,
      projectPath: project,
      messageCount: 0,
      totalTokens: 0,
      provider,
      status: "active",
    });
    assert.match(projectHash, /^[0-9a-f]{16}$/);
    assert.equal(id, session.id);
    assert.ok(isTime(createdAt) && isTime(lastAccessedAt));
    assert.equal(typeof title, "string");
    await talk(session);
    await manager.close();
    const loaded = (await again().loadSession(id)).metadata;
    assert.deepEqual(
      [loaded.title, loaded.messageCount, loaded.createdAt, loaded.provider],
      ["list the files", 3, createdAt, provider],
    );
    assert.ok(loaded.totalTokens > 0 && loaded.lastAccessedAt >= createdAt);
  }));

test("a message that was appended has every field of StoredMessage, and is read again as it was", () =>
  inFolder(async ({ project, manager }) => {
    const session = await manager.createSession(project, provider);
    const user = await session.appendMessage({ role: "user", content: "hello there" });
    const { id, timestamp, tokenCount, ...rest } = user;
    assert.deepEqual(rest, { parentId: null, role: "user", content: "hello there", cumulativeTokens: tokenCount });
    assert.ok(id && isTime(timestamp) && tokenCount > 0);
    const calls = [{ id: "c1", name: "bash", arguments: { command: "ls", deep: { of: [1, null] } } }];
    const assistant = await session.appendMessage({ role: "assistant", content: "", toolCalls: calls });
    assert.deepEqual([assistant.parentId, assistant.toolCalls], [id, calls]);
    assert.equal(assistant.cumulativeTokens, tokenCount + assistant.tokenCount);
    const tool = await session.appendMessage({ role: "tool", content: "a.txt", toolCallId: "c1", toolName: "bash" });
    assert.deepEqual([tool.parentId, tool.toolCallId, tool.toolName], [assistant.id, "c1", "bash"]);
    const system = await session.appendMessage({ role: "system", content: "be short" });
    assert.deepEqual(await session.getMessages(), [user, assistant, tool, system]);
    assert.equal(await session.getMessageCount(), 4);
    assert.equal(await session.getTotalTokens(), system.cumulativeTokens);
  }));

test("a message in OpenAI's shape is taken too, with its calls word for word, also where they are no JSON", () =>
  inFolder(async ({ project, manager }) => {
    const session = await manager.createSession(project, provider);
    const texts = ['{"a": 1}', '{"torn', "", "[1]", '"text"'];
    const tool_calls = texts.map((text, place) => ({ id: `c${place}`, function: { name: "f", arguments: text } }));
    const { content, toolCalls } = await session.appendMessage({ role: "assistant", content: null, tool_calls });
    assert.equal(content, "");
    assert.deepEqual(
      toolCalls?.map((one) => one.arguments),
      [{ a: 1 }, { text: '{"torn' }, {}, { value: [1] }, { value: "text" }],
    );
    const stored = JSON.parse(await session.export("json")).messages[0].assistant.toolCalls;
    assert.deepEqual(
      stored.map((/** @type {any} */ one) => one.arguments),
      texts,
    );
    const result = await session.appendMessage({ role: "tool", content: "x", tool_call_id: "c1", name: "f" });
    assert.deepEqual([result.toolCallId, result.toolName], ["c1", "f"]);
  }));

test("a tool execution has every field of StoredToolExecution; the call in both shapes", () =>
  inFolder(async ({ project, manager }) => {
    const session = await manager.createSession(project, provider);
    await talk(session);
    const [, assistant] = await session.getMessages();
    const [execution] = await session.getToolExecutions();
    const { id, timestamp, resultTokens, ...rest } = execution ?? assert.fail();
    assert.deepEqual(rest, {
      messageId: assistant?.id,
      toolCallId: "c1",
      tool: "bash",
      args: { command: "ls" },
      result: { success: true, content: "a.txt" },
      durationMs: 7,
    });
    assert.ok(id && isTime(timestamp) && resultTokens > 0);
    const second = await session.appendToolExecution(
      { id: "c2", function: { name: "read", arguments: '{"path":"a.txt"}' } },
      { content: "text" },
    );
    assert.deepEqual([second.tool, second.args, second.messageId], ["read", { path: "a.txt" }, assistant?.id]);
    assert.deepEqual(await session.getToolExecutions(), [execution, second]);
  }));

test("an execution that is brought twice, or twice at once, is one, and both get it", () =>
  inFolder(async ({ project, manager }) => {
    const session = await manager.createSession(project, provider);
    await session.appendMessage({ role: "assistant", content: "" });
    const call = { id: "c1", name: "bash", arguments: {} };
    const both = await Promise.all([1, 2].map(() => session.appendToolExecution(call, { content: "out" })));
    both.push(await session.appendToolExecution(call, { content: "out" }));
    for (const one of both) assert.deepEqual(one, both[0]);
    assert.equal((await session.getToolExecutions()).length, 1);
    assert.equal((await session.getMessages()).filter(({ role }) => role === "tool").length, 1);
  }));

for (const [what, result, expected] of /** @type {[string, any, any][]} */ ([
  ["a text", "out", { success: true, content: "out" }],
  ["nothing", undefined, { success: true, content: "" }],
  ["null", null, { success: true, content: "" }],
  ["an object as content", { content: { rows: [1] } }, { success: true, content: '{"rows":[1]}' }],
  ["an array", [{ type: "text", text: "x" }], { success: true, content: '[{"type":"text","text":"x"}]' }],
  ["an error alone", { success: false, error: "denied" }, { success: false, content: "denied", error: "denied" }],
  [
    "an Error",
    { error: new TypeError("no such tool") },
    { success: false, content: "no such tool", error: "no such tool" },
  ],
  ["a failure without a reason", { success: false, content: "half" }, { success: false, content: "half" }],
  ["an exit code", { content: "", exitCode: 127, success: false }, { success: false, content: "", exitCode: 127 }],
  ["a command that a signal ended", { content: "", exitCode: null, success: false }, { success: false, content: "" }],
  ["a time of parts of milliseconds", { content: "x", durationMs: 0.4 }, { success: true, content: "x" }],
  ["a clock that was set back", { content: "x", durationMs: -5 }, { success: true, content: "x" }],
  [
    "nanocoder's ToolResult",
    { tool_call_id: "c1", role: "tool", name: "bash", content: "x" },
    { success: true, content: "x" },
  ],
])) {
  test(`the result of a tool may be ${what}`, () =>
    inFolder(async ({ project, manager }) => {
      const session = await manager.createSession(project, provider);
      await session.appendMessage({ role: "assistant", content: "" });
      const execution = await session.appendToolExecution({ id: "c1", name: "bash", arguments: {} }, result);
      assert.deepEqual([execution.result, execution.durationMs], [expected, 0]);
      assert.deepEqual(await session.getToolExecutions(), [execution]);
    }));
}

test("arguments of any shape are kept in one piece", () =>
  inFolder(async ({ project, manager }) => {
    const session = await manager.createSession(project, provider);
    await session.appendMessage({ role: "assistant", content: "" });
    const shapes = [undefined, null, "", '{"a":1}', "no JSON {", "[1]", [1], 5];
    const args = [];
    for (const [place, one] of shapes.entries()) {
      args.push(
        (
          await session.appendToolExecution(
            { id: `c${place}`, name: "f", arguments: /** @type {any} */ (one) },
            { content: "" },
          )
        ).args,
      );
    }
    assert.deepEqual(args, [{}, {}, {}, { a: 1 }, { text: "no JSON {" }, { value: [1] }, { value: [1] }, { value: 5 }]);
  }));

test("calls of two sessions may have one id, each keeps its own", () =>
  inFolder(async ({ project, manager }) => {
    for (const content of ["of one", "of two"]) {
      const session = await manager.createSession(project, provider);
      await session.appendMessage({
        role: "assistant",
        content: "",
        toolCalls: [{ id: "call_0", name: "f", arguments: {} }],
      });
      await session.appendToolExecution({ id: "call_0", name: "f" }, { content });
      assert.deepEqual(
        (await session.getToolExecutions()).map(({ result }) => result.content),
        [content],
      );
    }
  }));

test("title, status and provider can be updated; what follows from the logs cannot, nor what nobody knows", () =>
  inFolder(async ({ project, manager, again }) => {
    const session = await manager.createSession(project, provider);
    const other = { type: "openai", model: "gpt-5", contextWindow: 400_000 };
    await session.updateMetadata({
      title: "Files",
      status: "archived",
      provider: other,
      lastAccessedAt: new Date().toISOString(),
    });
    const expected = ["Files", "archived", other];
    const found = (/** @type {Session["metadata"]} */ { title, status, provider: it }) => [title, status, it];
    assert.deepEqual(found(session.metadata), expected);
    // The whole of what was read may be given back.
    await session.updateMetadata(session.metadata);
    await session.updateMetadata({ title: undefined });
    for (const wrong of /** @type {any[]} */ ([
      { messageCount: 5 },
      { id: "x" },
      { createdAt: "2020-01-01T00:00:00Z" },
      { color: "red" },
      { title: "no", status: "corrupted" },
      { status: "done" },
      { title: 5 },
      { provider: { model: "x" } },
    ])) {
      await assert.rejects(session.updateMetadata(wrong), refusedAs("invalid_request"), JSON.stringify(wrong));
    }
    assert.deepEqual(found(session.metadata), expected);
    await manager.close();
    assert.deepEqual(found(/** @type {any} */ (await again().getSession(session.id))), expected);
  }));

test("sessions are listed of one project or of all, the archived ones too", () =>
  inFolder(async ({ project, other, manager }) => {
    const here = await manager.createSession(project, provider);
    const there = await manager.createSession(other, provider);
    await here.appendMessage({ role: "user", content: "x" });
    await manager.archiveSession(there.id);
    assert.deepEqual(
      (await manager.listSessions(project)).map(({ id }) => id),
      [here.id],
    );
    const all = await manager.listSessions();
    assert.deepEqual(
      all.map(({ id, status }) => [id, status]).sort(),
      [
        [here.id, "active"],
        [there.id, "archived"],
      ].sort(),
    );
    assert.deepEqual(
      all.find(({ id }) => id === here.id),
      await manager.getSession(here.id),
    );
    assert.deepEqual(Object.keys(all[0] ?? {}).sort(), Object.keys(here.metadata).sort());
    assert.equal(there.metadata.status, "archived");
  }));

test("a session of which nothing can be read is listed as corrupted", () =>
  inFolder(async ({ home, project, manager, again }) => {
    const { id, metadata } = await manager.createSession(project, provider);
    await manager.close();
    const folder = join(home, "sessions", "projects", metadata.projectHash, `session-${id}`);
    rmSync(join(folder, "events.jsonl"));
    mkdirSync(join(folder, "events.jsonl"));
    assert.deepEqual(
      (await again().listSessions(project)).map(({ status }) => status),
      ["corrupted"],
    );
  }));

test("an id that is not there is null for getSession, and refused elsewhere; so is the beginning of one", () =>
  inFolder(async ({ project, manager }) => {
    const { id } = await manager.createSession(project, provider);
    for (const wrong of ["", "nobody", id.slice(0, 8), "../../x"]) {
      assert.equal(await manager.getSession(wrong), null);
      await assert.rejects(manager.loadSession(wrong), refusedAs("not_found"));
      await assert.rejects(manager.archiveSession(wrong), refusedAs("not_found"));
      await assert.rejects(manager.deleteSession(wrong), refusedAs("not_found"));
      await assert.rejects(manager.setCurrentSession(project, wrong), refusedAs("not_found"));
    }
    assert.equal((await manager.getSession(id))?.status, "active");
  }));

test("the current session is the one that was made so, else the last active one; null where there is none", () =>
  inFolder(async ({ project, other, manager, again }) => {
    assert.equal(await manager.getCurrentSession(project), null);
    const first = await manager.createSession(project, provider);
    const second = await manager.createSession(project, provider);
    assert.equal((await manager.getCurrentSession(project))?.id, second.id);
    await manager.setCurrentSession(project, first.id);
    await manager.close();
    const next = again();
    assert.equal((await next.getCurrentSession(project))?.id, first.id);
    assert.equal(await next.getCurrentSession(other), null);
    await assert.rejects(next.setCurrentSession(other, first.id), refusedAs("not_found"));
    await next.deleteSession(first.id);
    assert.equal((await next.getCurrentSession(project))?.id, second.id);
    await next.archiveSession(second.id);
    // None is taken out of the archive.
    assert.equal(await next.getCurrentSession(project), null);
  }));

test("what is deleted lies in the trash, and is found no more", () =>
  inFolder(async ({ home, project, manager }) => {
    const session = await manager.createSession(project, provider);
    await talk(session);
    await manager.deleteSession(session.id);
    assert.equal(await manager.getSession(session.id), null);
    await assert.rejects(manager.loadSession(session.id), refusedAs("not_found"));
    assert.deepEqual(await manager.listSessions(), []);
    const [name = ""] = readdirSync(join(home, "trash"));
    assert.match(readdirSync(join(home, "trash", name), { recursive: true }).join(), /messages\.jsonl/);
  }));

test("one session is one object inside, whichever project's store opened it: what one appends the other has", () =>
  inFolder(async ({ project, other, manager, again }) => {
    const { id } = await manager.createSession(project, provider);
    await manager.close();
    const next = again();
    await next.createSession(other, provider);
    const loaded = await next.loadSession(id);
    const current = await next.getCurrentSession(project);
    await loaded.appendMessage({ role: "user", content: "x" });
    assert.deepEqual([loaded.metadata.messageCount, current?.metadata.messageCount], [1, 1]);
    await next.deleteSession(id);
    assert.equal(await next.getCurrentSession(project), null);
    await assert.rejects(next.loadSession(id), refusedAs("not_found"));
  }));

test("counts have what another process appended", () =>
  inFolder(async ({ project, manager, again }) => {
    const session = await manager.createSession(project, provider);
    await session.appendMessage({ role: "user", content: "mine" });
    const total = await session.getTotalTokens();
    await (await again().loadSession(session.id)).appendMessage({ role: "assistant", content: "theirs" });
    assert.equal(await session.getMessageCount(), 2);
    assert.ok((await session.getTotalTokens()) > total);
  }));

test("what is flushed is on the disk, the document too", () =>
  inFolder(async ({ home, project, manager }) => {
    const session = await manager.createSession(project, provider);
    await talk(session);
    await session.flush();
    const folder = join(home, "sessions", "projects", session.metadata.projectHash, `session-${session.id}`);
    const { stats, status } = JSON.parse(readFileSync(join(folder, "metadata.json"), "utf8"));
    assert.deepEqual([stats.messageCount, status], [3, "active"]);
    assert.ok(existsSync(join(folder, "tools.jsonl")));
  }));

test("a session is described by the first line of what the user said first, cut", () =>
  inFolder(async ({ home, project, manager }) => {
    const session = await manager.createSession(project, provider);
    await session.appendMessage({ role: "system", content: "be short" });
    await session.appendMessage({ role: "user", content: `\n  ${"long ".repeat(200)}\nand more` });
    await session.appendMessage({ role: "user", content: "later" });
    await session.flush();
    const folder = join(home, "sessions", "projects", session.metadata.projectHash, `session-${session.id}`);
    assert.equal(
      JSON.parse(readFileSync(join(folder, "metadata.json"), "utf8")).display.description,
      "long ".repeat(80),
    );
  }));

test("a manager that was closed opens again what it is asked for; a folder that was not there may be there the next time", () =>
  inFolder(async ({ home, project, manager }) => {
    const { id } = await manager.createSession(project, provider);
    await manager.close();
    await manager.close();
    assert.equal((await manager.loadSession(id)).id, id);
    const late = join(home, "late");
    await assert.rejects(manager.createSession(late, provider), refusedAs("not_found"));
    mkdirSync(late);
    assert.ok(await manager.createSession(late, provider));
    assert.equal((await manager.listSessions()).length, 2);
    await assert.rejects(manager.createSession(project, /** @type {any} */ (undefined)), refusedAs("invalid_request"));
  }));

test("a folder of many projects has no current session, and says so", () =>
  inFolder(async ({ manager }) => {
    const { id } = await manager.createSession(homedir(), provider);
    await assert.rejects(manager.setCurrentSession(homedir(), id), refusedAs("no_pointer"));
  }));

test("JSON that was exported has it all", () =>
  inFolder(async ({ project, manager }) => {
    const session = await manager.createSession(project, provider);
    await talk(session);
    const { metadata, messages, toolExecutions } = JSON.parse(await session.export("json"));
    assert.deepEqual([metadata.id, messages.length, toolExecutions[0].result.content], [session.id, 3, "a.txt"]);
    await assert.rejects(session.export(/** @type {any} */ ("pdf")), refusedAs("invalid_request"));
  }));

test("Markdown that was exported keeps its headings, whatever a message leaves open", () =>
  inFolder(async ({ project, manager }) => {
    const session = await manager.createSession(project, provider);
    const open = [
      "```js\nlet a;",
      "~~~~\n```\n",
      "<!-- never closed",
      "  <script>alert(1)",
      "</pre>",
      "````\n```\n``` x\n",
      "```inline``` text",
    ];
    for (const content of open) await session.appendMessage({ role: "user", content });
    await session.appendToolExecution({ id: "c1", name: "bash", arguments: {} }, { content: "`````\n## user\n```" });
    const lines = (await session.export("markdown")).split("\n");
    assert.equal(lines[0], "# let a;");
    let fence = "";
    const headings = [];
    for (const line of lines) {
      const [, run = "", rest = ""] = /^ {0,3}(`{3,}|~{3,})(.*)$/.exec(line) ?? [];
      if (!fence && run && !rest.includes("`")) fence = run;
      else if (fence && run.startsWith(fence) && !rest) fence = "";
      else if (!fence && line.startsWith("## ")) headings.push(line.split(/[ ,]/)[1]);
      assert.ok(fence || !/^ {0,3}<(!|\/?(script|pre))/.test(line), line);
    }
    assert.deepEqual(headings, [...open.map(() => "user"), "tool"]);
    assert.equal(fence, "");
  }));

test("Markdown that was exported steers no terminal, and has a huge message whole", () =>
  inFolder(async ({ project, manager }) => {
    const session = await manager.createSession(project, provider);
    await session.appendMessage({ role: "user", content: "a\u001b]0;owned\u0007b\r\nc\u202ed\u0000" });
    const huge = "```x ".repeat(400_000);
    await session.appendToolExecution({ id: "c1", name: "bash\u001b[2J\n## user", arguments: {} }, { content: huge });
    const text = await session.export("markdown");
    assert.doesNotMatch(text, /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e]/);
    assert.match(text, /a\u241b\]0;owned\u2407b\nc\ufffdd\u2400/);
    assert.ok(text.includes(huge));
    assert.equal(text.split("\n").filter((line) => line.startsWith("## user")).length, 1);
  }));

test("the chat handler of its design runs as it stands", () =>
  inFolder(async ({ project, manager }) => {
    const session = await manager.createSession(project, provider);
    // The context builder comes with a later step: what stands for it here gives every message.
    const contextBuilder = {
      buildContext: async (/** @type {Session} */ of, _budget = 0) => ({ messages: await of.getMessages() }),
    };
    const budget = 0;
    const sent = /** @type {any[]} */ ([]);
    const toolCalls = [
      { id: "call_0", function: { name: "bash", arguments: { command: "ls" } } },
      { id: "call_1", function: { name: "read", arguments: { path: "a" } } },
    ];
    const llm = {
      chat: async (/** @type {{ messages: any[] }} */ { messages }) => (
        sent.push(messages.length),
        { content: "I look.", toolCalls }
      ),
    };
    const executeTool = async (/** @type {any} */ call) => ({
      tool_call_id: call.id,
      role: "tool",
      name: call.function.name,
      content: `${call.function.name} of turn ${sent.length}`,
    });
    const autoPersist = new AutoPersist(session, { debounceMs: 0 });

    // Pseudocode for chat handler integration
    async function handleUserMessage(/** @type {string} */ content) {
      // 1. Append to session (immediate, crash-safe)
      await session.appendMessage({ role: "user", content });

      // 2. Build context for LLM call
      const context = await contextBuilder.buildContext(session, budget);

      // 3. Call LLM
      const response = await llm.chat({ messages: context.messages });

      // 4. Append response to session
      await session.appendMessage({ role: "assistant", content: response.content });

      // 5. Handle tool calls
      for (const toolCall of response.toolCalls) {
        const result = await executeTool(toolCall);
        await session.appendToolExecution(toolCall, result);
      }

      // 6. Schedule metadata update (debounced)
      autoPersist.scheduleMetadataUpdate();
    }

    await handleUserMessage("first");
    await handleUserMessage("second");
    await autoPersist.stop();
    assert.deepEqual(sent, [1, 5]);
    const executions = await session.getToolExecutions();
    assert.deepEqual(
      executions.map(({ result }) => result.content),
      ["bash of turn 1", "read of turn 1", "bash of turn 2", "read of turn 2"],
    );
    const messages = await session.getMessages();
    assert.deepEqual(
      messages.map(({ role }) => role),
      ["user", "assistant", "tool", "tool", "user", "assistant", "tool", "tool"],
    );
    // The handler never says which calls the answer made; its messages have them nevertheless.
    for (const place of [1, 5])
      assert.deepEqual(
        messages[place]?.toolCalls?.map(({ name, arguments: args }) => [name, args]),
        [
          ["bash", { command: "ls" }],
          ["read", { path: "a" }],
        ],
      );
    assert.deepEqual(
      executions.map(({ messageId }) => messageId),
      [1, 1, 5, 5].map((place) => messages[place]?.id),
    );
  }));
