// @ts-check
// What the page on agent SDKs shows is run as it stands there, with the SDKs and a stand-in for a model. The Claude Agent
// SDK's example is run with the real SDK: `npm run test:clients -- claude-sdk`.
// Tries: docs/SDKS.md, js/ai/, js/langchain/, js/openai/
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { nodePath } from "./node-path.js";

const root = fileURLToPath(new URL("../..", import.meta.url));
const blocks = [...readFileSync(join(root, "docs", "SDKS.md"), "utf8").matchAll(/```js\n([^]*?)```/g)].map(
  ([, code = ""]) => code,
);

/** The block that imports these. @param {string} names */
const blockWith = (names) => blocks.find((block) => block.includes(`import { ${names} } from`));

/** A model of the AI SDK that calls a tool once, then answers. */
const MODEL = `
import { MockLanguageModelV4, simulateReadableStream } from "ai/test";
import { jsonSchema, tool } from "ai";
const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
const answerOf = ({ prompt }) => {
  const isAsked = prompt.at(-1).role === "user";
  const content = isAsked
    ? [{ type: "tool-call", toolCallId: "call_1", toolName: "look", input: "{}" }]
    : [{ type: "text", text: "In src." }];
  return { content, finishReason: { unified: isAsked ? "tool-calls" : "stop" }, usage, warnings: [] };
};
globalThis.model = new MockLanguageModelV4({
  doGenerate: async (options) => answerOf(options),
  doStream: async (options) => {
    const { content: [part], ...end } = answerOf(options);
    const chunks = part.text
      ? [{ type: "text-start", id: "1" }, { type: "text-delta", id: "1", delta: part.text }, { type: "text-end", id: "1" }]
      : [part];
    return { stream: simulateReadableStream({ chunks: [...chunks, { type: "finish", ...end }] }) };
  },
});
const inputSchema = jsonSchema({ type: "object", properties: {} });
globalThis.tools = { look: tool({ inputSchema, execute: async () => (await globalThis.gate, "src") }) };
`;

/**
 * Runs a block of the page in a project that has the packages, and answers what it prints.
 * @param {string} given before it @param {string | undefined} code @param {string} shown behind it
 */
function runBlock(given, code, shown) {
  assert.ok(code);
  const folder = mkdtempSync(join(tmpdir(), "leftoff-sdks-"));
  try {
    for (const scope of ["@langchain", "@openai"]) mkdirSync(join(folder, "node_modules", scope), { recursive: true });
    for (const [name, target] of [
      ["leftoff", root],
      ["ai", join(root, "node_modules", "ai-current")],
      ["@langchain/core", join(root, "node_modules", "@langchain", "core")],
      ["@openai/agents", join(root, "node_modules", "@openai", "agents-core")],
    ])
      symlinkSync(String(target), join(folder, "node_modules", String(name)));
    writeFileSync(join(folder, "given.mjs"), given);
    const own = code.replace("/srv/chats", join(folder, "chats"));
    writeFileSync(join(folder, "page.mjs"), `import "./given.mjs";\n${own}\n${shown}`);
    const env = { ...process.env, LEFTOFF_HOME: join(folder, "home"), AI_SDK_LOG_WARNINGS: "false" };
    return execFileSync(nodePath, ["page.mjs"], { cwd: folder, env, encoding: "utf8" });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

test("a run of the AI SDK is saved, and gets its context", () => {
  const shown = `
    const again = await openStore();
    const { text: markdown } = { text: await (await again.current()).export("markdown") };
    console.log(text, /Where is the parser\\?[^]*In src\\./.test(markdown));
    await again.close();`;
  assert.equal(runBlock(MODEL, blockWith("contextFor, saveAnswer"), shown), "In src. true\n");
});

test("a route answers a chat, has it at the next request, and gives a running answer to a page that comes later", () => {
  const shown = `
    const get = () => GET(new Request("http://localhost"), { params: Promise.resolve({ id: "c" }) });
    const statuses = [(await get()).status];
    for (const text of ["Where is the parser?", "Thanks"]) {
      const message = { id: text, role: "user", parts: [{ type: "text", text }] };
      const changes = (await openChat(store, "c")).follow();
      let next = changes.next();
      let look;
      globalThis.gate = new Promise((resolve) => (look = resolve));
      const response = await POST(new Request("http://localhost", { method: "POST", body: JSON.stringify({ id: "c", message }) }));
      while (!(await next).value.source?.stream) next = changes.next();
      const again = await get();
      look();
      const [first, second] = await Promise.all([response.text(), again.text()]);
      statuses.push(again.status, [first, second].every((chunks) => chunks.includes("In src.")), (await get()).status);
      await changes.return();
    }
    console.log(...statuses);
    console.log((await loadChat(store, "c")).map(({ role, parts }) => role + " " + parts.length).join(", "));
    await store.close();`;
  assert.equal(
    runBlock(MODEL, blockWith("contextFor, loadChat, openChat, resumeStream, saveAnswer, saveChat, saveStream"), shown),
    "204 200 true 204 200 true 204\nuser 1, assistant 4, user 1, assistant 4\n",
  );
});

test("LangChain's chat is kept", () => {
  const given = `
    import { FakeListChatModel } from "@langchain/core/utils/testing";
    globalThis.model = new FakeListChatModel({ responses: ["Nothing."] });`;
  const shown = `
    const history = new LeftoffChatMessageHistory({ store, sessionId: "first-chat" });
    console.log((await history.getMessages()).map(({ text }) => text).join(" "));
    await store.close();`;
  assert.equal(runBlock(given, blockWith("LeftoffChatMessageHistory"), shown), "What is left to do? Nothing.\n");
});

test("a run of the OpenAI Agents SDK is kept", () => {
  const given = `
    import { setDefaultModelProvider, setTracingDisabled } from "@openai/agents";
    import { ScriptedModel, assistantMessage } from "@openai/agents/testing";
    setTracingDisabled(true);
    const model = new ScriptedModel([[assistantMessage("Renamed.")]]);
    setDefaultModelProvider({ getModel: () => model });`;
  const shown = `
    const again = await openStore();
    const items = await session({ store: again, id: "chat 42" }).getItems();
    console.log(finalOutput, items.map(({ role }) => role).join(" "));
    await again.close();`;
  assert.equal(runBlock(given, blockWith("contextFor, session"), shown), "Renamed. user assistant\n");
});
