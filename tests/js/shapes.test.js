// @ts-check
// The providers' shapes by the providers' own types and schemas, on the way out and in.
// Tries: src/shapes/, js/types/shapes.d.ts
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import * as current from "ai-current";
import { MockLanguageModelV3 } from "ai-current/test";
import * as previous from "ai-previous";
import { LeftoffError, MemoryStorage, openStore } from "../../js/index.js";
import { nodePath } from "./node-path.js";
import { answers, drafts } from "./shapes-samples.js";

/** @typedef {import("../../js/types/index.js").Format} Format */

// What it advises against is what both majors take.
Object.assign(globalThis, { AI_SDK_LOG_WARNINGS: false });
const root = fileURLToPath(new URL("../..", import.meta.url));
const majors = [current, /** @type {typeof current} */ (/** @type {any} */ (previous))];

/**
 * What each shape is by its vendor: the type of the whole list, and who exports it.
 * @type {Record<string, [string, string]>}
 */
const TYPES = {
  "openai-chat": ["ChatCompletionMessageParam[]", "openai/resources/chat/completions"],
  "openai-responses": ["ResponseInputItem[]", "openai/resources/responses/responses"],
  anthropic: ["MessageParam[]", "@anthropic-ai/sdk/resources/messages"],
  gemini: ["Content[]", "@google/genai"],
  "ai-sdk": ["ModelMessage[]", "ai-current"],
  "ai-sdk-ui": ["UIMessage[]", "ai-current"],
};

/** Each is wrong in one thing, and has to be found wrong. @type {Record<string, unknown[]>} */
const WRONG = {
  "openai-chat": [{ role: "tool", content: "x" }],
  "openai-responses": [{ type: "function_call_output", call_id: "c" }],
  anthropic: [{ role: "user", content: [{ type: "tool_result", content: "x" }] }],
  gemini: [{ role: "user", parts: [{ functionResponse: { name: "x", response: "text" } }] }],
  "ai-sdk": [{ role: "tool", content: [{ type: "tool-result", toolCallId: "c", toolName: "t", output: "x" }] }],
  "ai-sdk-ui": [
    {
      id: "1",
      role: "assistant",
      parts: [
        { type: "dynamic-tool", toolName: "t", toolCallId: "c", state: "output-available", input: {}, errorText: "x" },
      ],
    },
  ],
};

async function session() {
  const store = await openStore({ home: "/home", project: "/", storage: new MemoryStorage() });
  return store.create();
}

/** What is sent of these. @template {Format} F @param {object[]} drafts @param {F} format */
async function sentMessages(drafts, format) {
  const one = await session();
  await one.append(drafts);
  return (await one.context({ window: 200_000, format })).messages;
}

/**
 * What the vendor's validation says against these; nothing where they are right.
 * @param {Format} format
 * @param {any[]} messages
 * @param {typeof current} sdk
 */
async function against(format, messages, sdk) {
  if (format === "ai-sdk")
    return messages.map((one) => sdk.modelMessageSchema.safeParse(one)).find(({ success }) => !success)?.error;
  const checked = await sdk.safeValidateUIMessages({ messages });
  return checked.success ? undefined : checked.error;
}

test("what is sent is what the AI SDK's schemas ask for, of both majors", async () => {
  for (const sdk of majors) {
    for (const format of /** @type {const} */ (["ai-sdk", "ai-sdk-ui"])) {
      const messages = await sentMessages(drafts, format);
      assert.equal(await against(format, messages, sdk), undefined, JSON.stringify(messages));
      assert.ok(await against(format, WRONG[format], sdk), "what is wrong passes");
    }
    // Both of its shapes come to the same: a model gets as many calls as results.
    const { prompt } = await modelRequest(await sentMessages(drafts, "ai-sdk"));
    const fromScreen = await modelRequest(await sdk.convertToModelMessages(await sentMessages(drafts, "ai-sdk-ui")));
    assert.deepEqual(parts(prompt), parts(fromScreen.prompt));
    assert.equal(parts(prompt).length, 8);
  }
});

/** What the AI SDK hands to a model. @param {any} messages */
async function modelRequest(messages) {
  const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
  const answer = /** @type {any} */ ({
    content: [{ type: "text", text: "ok" }],
    finishReason: { unified: "stop" },
    usage,
    warnings: [],
  });
  // Else it would ask for what lies at an address.
  const model = new MockLanguageModelV3({ doGenerate: answer, supportedUrls: { "*/*": [/.*/] } });
  await current.generateText({ model, messages, allowSystemInMessages: true });
  return model.doGenerateCalls[0];
}

/**
 * What pairs, by the id: a part on a screen is a call and its result, and has no order of results.
 * @param {any[]} prompt
 */
const parts = (prompt) =>
  prompt
    .flatMap(({ content }) => (Array.isArray(content) ? content : []))
    .filter(({ type }) => /^tool-(call|result)$/.test(type))
    .map(({ type, toolCallId }) => `${toolCallId} ${type}`)
    .sort();

test("what is sent, and what is read here, is of the vendors' own types", async () => {
  /** @type {[string, string, unknown, boolean][]} */
  const samples = answers.map(({ type, from, value }) => [type, from, value, true]);
  for (const [format, [type, from]] of Object.entries(TYPES)) {
    samples.push(
      [type, from, await sentMessages(drafts, /** @type {Format} */ (format)), true],
      [type, from, WRONG[format], false],
    );
  }
  for (const format of ["ai-sdk", "ai-sdk-ui"])
    samples.push([TYPES[format][0], "ai-previous", await sentMessages(drafts, /** @type {Format} */ (format)), true]);
  const found = compilerErrors(
    samples.map(([type, from, value, isRight], at) => declarationOf(at, type, from, value, isRight)).join("\n"),
  );
  assert.equal(found, "");
});

test("an open loop with the reasoning that was signed is of the vendors' own types", async () => {
  /**
   * Who made it, as a draft has it, and what is sent of it.
   * @type {[Format, string, import("../../js/types/index.js").ReadReasoning, RegExp][]}
   */
  const loops = [
    [
      "anthropic",
      "claude-sonnet-4-5",
      { text: "I think", signature: "SIG" },
      /"type":"thinking","thinking":"I think","signature":"SIG"/,
    ],
    ["anthropic", "claude-sonnet-4-5", { text: "", data: "RED" }, /"type":"redacted_thinking","data":"RED"/],
    ["gemini", "gemini-3-pro", { text: "", signature: "SIG" }, /"thoughtSignature":"SIG"/],
    ["ai-sdk", "claude-sonnet-4-5", { text: "I think", signature: "SIG" }, /"anthropic":\{"signature":"SIG"\}/],
    ["ai-sdk", "gemini-3-pro", { text: "", signature: "SIG" }, /"google":\{"thoughtSignature":"SIG"\}/],
  ];
  const program = [];
  for (const [format, model, reasoning, expected] of loops) {
    const one = await session();
    await one.append([
      { role: "user", content: "List the files." },
      {
        role: "assistant",
        content: "",
        assistant: { model, reasoning: [reasoning], toolCalls: [{ id: "c1", name: "ls", arguments: "{}" }] },
      },
      { role: "tool", content: "a.ts", tool: { callId: "c1", name: "ls" } },
    ]);
    const { messages, report } = await one.context({ window: 200_000, encoding: "o200k_base", model, format });
    assert.match(JSON.stringify(messages), expected);
    assert.deepEqual(
      report.reasoning?.map(({ isSent, why }) => [isSent, why]),
      [[true, "open-loop"]],
    );
    program.push(declarationOf(program.length, .../** @type {[string, string]} */ (TYPES[format]), messages, true));
    const other = await one.context({ window: 200_000, encoding: "o200k_base", model: "another-model", format });
    assert.doesNotMatch(JSON.stringify(other.messages), expected);
    assert.deepEqual(
      other.report.reasoning?.map(({ why }) => why),
      ["other-model"],
    );
    assert.ok(
      other.tokensUsed < report.budget.availableTokens &&
        (await one.context({ window: 200_000, model, encoding: "o200k_base", format })).tokensUsed > other.tokensUsed,
      "it is counted",
    );
  }
  assert.equal(compilerErrors(program.join("\n")), "");
});

/** @param {number} at @param {string} type @param {string} from @param {unknown} value @param {boolean} isRight */
function declarationOf(at, type, from, value, isRight) {
  const [name = ""] = type.match(/\b(?!Pick\b)[A-Z]\w+/) ?? [];
  const lines = [`import type { ${name} as T${at} } from ${JSON.stringify(from)};`];
  if (!isRight) lines.push("// @ts-expect-error it is wrong in one thing");
  // An enum is no string for the compiler. In one line, so that the expectation holds for all of it.
  const literal = JSON.stringify(value).replace('"finishReason":"STOP"', '"finishReason":"STOP" as any');
  lines.push(`export const v${at}: ${type.replace(name, `T${at}`)} = ${literal};`);
  return lines.join("\n");
}

/** What the compiler says of this program. @param {string} program */
function compilerErrors(program) {
  // Where packages are found from.
  const folder = join(root, "target");
  mkdirSync(folder, { recursive: true });
  const here = mkdtempSync(join(folder, "shapes-"));
  try {
    writeFileSync(join(here, "samples.ts"), program);
    const options = {
      target: "es2023",
      module: "nodenext",
      lib: ["es2024", "dom", "esnext.disposable"],
      types: ["node"],
      strict: true,
      noEmit: true,
      skipLibCheck: true,
    };
    writeFileSync(join(here, "tsconfig.json"), JSON.stringify({ compilerOptions: options, files: ["samples.ts"] }));
    const done = spawnSync(nodePath, [join(root, "node_modules/typescript/bin/tsc"), "--project", here], {
      encoding: "utf8",
    });
    return done.stdout + done.stderr;
  } finally {
    rmSync(here, { recursive: true });
  }
}

test("what providers answer is kept: text, reasoning, calls, results, files, usage", async () => {
  for (const { format, value, drafts } of answers) {
    const one = await session();
    await one.append(value, { format });
    const kept = [];
    for await (const { role, content, tool, assistant, attachments } of one.messages()) {
      kept.push(JSON.parse(JSON.stringify({ role, content, tool, assistant, attachments })));
    }
    assert.deepEqual(kept, drafts, format);
  }
});

test("bytes are taken as the AI SDK takes them, and a message as it is", async () => {
  const one = await session();
  const bytes = Uint8Array.of(1, 2, 255);
  for (const data of [bytes, Buffer.from(bytes), bytes.buffer]) {
    await one.append({ role: "user", content: [{ type: "file", mediaType: "image/png", data }] }, { format: "ai-sdk" });
  }
  for await (const { attachments } of one.messages()) assert.equal(attachments?.[0]?.data, "AQL/");
});

test("a shape that nobody has is refused by its name, and what is no message by its place", async () => {
  const one = await session();
  const format = /** @type {any} */ ("mistral");
  /** @param {RegExp} text */
  const refused = (text) => (/** @type {unknown} */ error) =>
    error instanceof LeftoffError && error.code === "invalid_request" && text.test(error.message);
  await assert.rejects(one.append([], { format }), refused(/openai-chat.*"mistral"/));
  await assert.rejects(one.context({ window: 1000, format }), refused(/openai-chat.*"mistral"/));
  for (const [name, wrong, text] of /** @type {[Format, any, RegExp][]} */ ([
    ["openai-chat", { role: "boss", content: "x" }, /message 1: expected a "role", but found "boss" instead/],
    [
      "openai-responses",
      { role: "user", content: 7 },
      /message 1: expected a string or an array for "content", but found 7/,
    ],
    [
      "anthropic",
      { role: "user", content: [{ type: "text", text: 7 }] },
      /message 1: expected a string for "content\[0\].text"/,
    ],
    ["gemini", { role: "user", parts: ["x"] }, /message 1: expected an object for "parts\[0\]"/],
    ["ai-sdk", { content: "x" }, /message 1: expected a "role", but found none/],
    ["ai-sdk-ui", { role: "user", parts: [7] }, /message 1: expected an object for "parts\[0\]"/],
  ])) {
    const right = name === "gemini" ? { role: "user", parts: [{ text: "x" }] } : { role: "user", content: "x" };
    await assert.rejects(one.append([right, wrong], { format: name }), refused(text));
  }
  for await (const message of one.messages()) assert.fail(`nothing was to be read, but ${JSON.stringify(message)}`);
});
