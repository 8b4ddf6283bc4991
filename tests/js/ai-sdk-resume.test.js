// @ts-check
// An answer that streams is gone on with by another reader: what the SDK makes of the chunks is what is saved.
// Tries: js/ai/stream.js, js/ai/chunks.js, js/ai/marks.js
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import { contextFor, loadChat, openChat, resumeStream, saveAnswer, saveChat, saveStream } from "../../js/ai/index.js";
import { MemoryStorage, openStore } from "../../js/index.js";
import { VERSIONS, message, toolsOf } from "./ai-sdk.js";

/** @import { Store } from "../../js/index.js" */
/** @import { Version } from "./ai-sdk.js" */

const chatId = "chat";
const QUESTION = message("q", "user", "Where is it?");

/** Two stores on the same files. @param {(writing: Store, reading: Store) => unknown} work */
async function inStores(work) {
  const storage = new MemoryStorage();
  const stores = await Promise.all([1, 2].map(() => openStore({ home: "/home", project: "/project", storage })));
  await work(/** @type {Store} */ (stores[0]), /** @type {Store} */ (stores[1]));
  await stores[0]?.close();
}

/** What the SDK's reader makes of a stream: its last state. @param {Version} version @param {any} stream @param {(state: any) => void} [see] @returns {Promise<any>} */
async function readAll({ sdk }, stream, see = () => {}) {
  /** @type {any} */
  let last;
  for await (const state of sdk.readUIMessageStream({ stream, terminateOnError: true })) see((last = state));
  return last && JSON.parse(JSON.stringify(last));
}

/** A stream that is said piece by piece, by hand. */
function handStream() {
  /** @type {any} */
  let controller;
  const stream = new ReadableStream({ start: (given) => void (controller = given) });
  return {
    stream,
    say: (/** @type {any[]} */ ...chunks) => chunks.forEach((chunk) => controller.enqueue(chunk)),
    end: () => controller.close(),
  };
}

const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
const finish = (/** @type {string} */ reason) => ({
  type: "finish",
  finishReason: { unified: reason, raw: reason },
  usage,
});
/** The first step: reasoning, a text, and a call; the second one: a text. */
const STEPS = [
  [
    { type: "stream-start", warnings: [] },
    { type: "reasoning-start", id: "r", providerMetadata: { openai: { itemId: "rs_1" } } },
    { type: "reasoning-delta", id: "r", delta: "The user wants " },
    { type: "reasoning-delta", id: "r", delta: "a place." },
    { type: "reasoning-end", id: "r" },
    { type: "text-start", id: "t" },
    { type: "text-delta", id: "t", delta: "Let me " },
    { type: "text-delta", id: "t", delta: "look for it." },
    { type: "text-end", id: "t", providerMetadata: { openai: { itemId: "msg_1" } } },
    { type: "tool-input-start", id: "call_1", toolName: "look" },
    { type: "tool-input-delta", id: "call_1", delta: '{"at":' },
    { type: "tool-input-delta", id: "call_1", delta: '"src"}' },
    { type: "tool-input-end", id: "call_1" },
    { type: "tool-call", toolCallId: "call_1", toolName: "look", input: '{"at":"src"}' },
    finish("tool-calls"),
  ],
  [
    { type: "stream-start", warnings: [] },
    { type: "text-start", id: "t" },
    { type: "text-delta", id: "t", delta: "It is in " },
    { type: "text-delta", id: "t", delta: "src." },
    { type: "text-end", id: "t", providerMetadata: { openai: { itemId: "msg_2" } } },
    finish("stop"),
  ],
];

/** A run of the SDK whose model says what the test has it say. @param {Version} version @param {Store} store */
async function startRun(version, store) {
  const { sdk, Model } = version;
  const steps = STEPS.map(() => handStream());
  let place = 0;
  const messages = [QUESTION];
  await saveChat(store, { chatId, messages });
  const session = await openChat(store, chatId);
  const result = sdk.streamText({
    model: new Model({ doStream: async () => ({ stream: steps[place++]?.stream }) }),
    tools: toolsOf(version),
    messages: await sdk.convertToModelMessages(messages),
    stopWhen: version.stopAfter(5),
    prepareStep: contextFor(session, { window: 100_000 }),
    [version.name === "version 7" ? "onEnd" : "onFinish"]: saveAnswer(session),
    onError: () => {},
  });
  const options = { originalMessages: messages, generateMessageId: () => "a" };
  const stream = sdk.toUIMessageStream
    ? sdk.toUIMessageStream({ stream: result.stream, ...options })
    : result.toUIMessageStream(options);
  const answer = sdk.readUIMessageStream({ stream, terminateOnError: true });
  const changes = session.follow();
  const isMarked = changes.next();
  const saved = saveStream(store, { chatId, messages, answer });
  await isMarked;
  await changes.return(undefined);
  return { steps, saved };
}

for (const version of VERSIONS)
  test(`an answer is gone on with at each of its chunks, in ${version.name}`, async () => {
    await inStores(async (store, other) => {
      const { steps, saved } = await startRun(version, store);
      const readers = [];
      const all = STEPS.flatMap((chunks, step) => chunks.map((chunk) => ({ chunk, step })));
      for (const { chunk, step } of all) {
        const stream = await resumeStream(other, chatId);
        assert.ok(stream, JSON.stringify(chunk));
        readers.push(readAll(version, stream));
        steps[step]?.say(chunk);
        if (chunk.type === "finish") steps[step]?.end();
        await new Promise((done) => setImmediate(done));
      }
      await saved;
      const [question, answer, ...others] = await loadChat(other, chatId);
      assert.deepEqual([question, others], [QUESTION, []]);
      await version.sdk.validateUIMessages({ messages: [question, answer] });
      const states = JSON.stringify(answer).match(/"state":"[a-z-]+"/g);
      assert.deepEqual(states?.length, 4);
      for (const read of await Promise.all(readers)) assert.deepEqual(read, answer);
      assert.equal(await resumeStream(other, chatId), null);
    });
  });

for (const version of VERSIONS)
  test(`an answer that fails is kept as far as it came, and the reader is told, in ${version.name}`, async () => {
    await inStores(async (store, other) => {
      const { steps, saved } = await startRun(version, store);
      const stream = await resumeStream(other, chatId);
      const pieces = STEPS[0]?.slice(0, 7) ?? [];
      steps[0]?.say(...pieces, { type: "error", error: new Error("The model is overloaded.") });
      /** @type {string[]} */
      const errors = [];
      let last;
      const onError = (/** @type {Error} */ { message }) => errors.push(message);
      for await (const state of version.sdk.readUIMessageStream({ stream, onError })) last = state;
      await saved;
      const [, answer] = await loadChat(other, chatId);
      assert.deepEqual(errors, ["An error occurred."]);
      assert.deepEqual(JSON.parse(JSON.stringify(last)), answer);
      assert.deepEqual(answer?.parts.at(-1), { type: "text", text: "Let me ", state: "streaming" });
      assert.equal(await resumeStream(other, chatId), null);
    });
  });

/** A chat on a page: the SDK's own, whose state is plain. @param {Version} version @param {any[]} messages @param {() => Promise<Response>} get */
function openPage({ sdk }, messages, get) {
  const state = {
    status: "ready",
    error: undefined,
    messages,
    pushMessage: (/** @type {any} */ message) => void (state.messages = [...state.messages, message]),
    popMessage: () => void (state.messages = state.messages.slice(0, -1)),
    replaceMessage: (/** @type {number} */ at, /** @type {any} */ message) =>
      void (state.messages = state.messages.map((one, place) => (place === at ? message : one))),
    snapshot: structuredClone,
  };
  const Page = /** @type {any} */ (class extends sdk.AbstractChat {});
  return new Page({ id: chatId, state, transport: new sdk.DefaultChatTransport({ fetch: get }) });
}

for (const version of VERSIONS)
  test(`a page that is loaded anew shows the answer once, and to its end, in ${version.name}`, async () => {
    await inStores(async (store, other) => {
      const GET = async () => {
        const stream = await resumeStream(other, chatId);
        return stream ? version.sdk.createUIMessageStreamResponse({ stream }) : new Response(null, { status: 204 });
      };
      const { steps, saved } = await startRun(version, store);
      const changes = (await openChat(other, chatId)).follow();
      const hasAnswer = changes.next();
      steps[0]?.say(...(STEPS[0]?.slice(0, 7) ?? []));
      await hasAnswer;
      const loaded = await loadChat(other, chatId);
      assert.deepEqual(
        loaded.map(({ id }) => id),
        ["q", "a"],
      );
      const page = openPage(version, loaded, GET);
      const isShown = page.resumeStream();
      steps[0]?.say(...(STEPS[0]?.slice(7) ?? []));
      steps[0]?.end();
      steps[1]?.say(...(STEPS[1] ?? []));
      steps[1]?.end();
      await Promise.all([saved, isShown]);
      assert.equal(page.status, "ready");
      assert.deepEqual(JSON.parse(JSON.stringify(page.messages)), await loadChat(other, chatId));
      const later = openPage(version, await loadChat(other, chatId), GET);
      await later.resumeStream();
      assert.deepEqual(later.messages, await loadChat(other, chatId));
    });
  });

test("an answer is read to its end also where another program goes on in the chat meanwhile", async () => {
  const [version] = VERSIONS;
  if (!version) return;
  await inStores(async (store, other) => {
    const { steps, saved } = await startRun(version, store);
    const read = readAll(version, await resumeStream(other, chatId));
    steps[0]?.say(...(STEPS[0] ?? []));
    steps[0]?.end();
    await saveChat(other, { chatId, messages: [QUESTION, message("q2", "user", "And its tests?")] });
    steps[1]?.say(...(STEPS[1] ?? []));
    steps[1]?.end();
    await saved;
    const answer = await read;
    assert.equal(answer.parts.at(-1).text, "It is in src.");
    assert.deepEqual(answer, (await loadChat(other, chatId))[1]);
  });
});

test("an answer that goes on after an approval is read whole", async () => {
  const [version] = VERSIONS;
  await inStores(async (store, other) => {
    const approval = { id: "may", approved: true };
    const asked = message("a", "assistant", { type: "step-start" }, call("approval-responded", { approval }));
    const done = call("output-available", { approval, output: "src" });
    const grown = message("a", "assistant", { type: "step-start" }, done);
    const changes = (await openChat(other, chatId)).follow();
    const isMarked = changes.next();
    const { promise, resolve } = withResolvers();
    async function* grow() {
      await promise;
      yield grown;
    }
    const saved = saveStream(store, { chatId, messages: [QUESTION, asked], answer: grow() });
    await isMarked;
    const read = readAll(/** @type {Version} */ (version), await resumeStream(other, chatId));
    resolve();
    await saved;
    assert.deepEqual(await read, grown);
    assert.deepEqual(await loadChat(other, chatId), [QUESTION, grown]);
  });
});

/** A call on a screen. @param {string} state @param {object} more */
const call = (state, more) => ({ type: "tool-look", toolCallId: "call_1", state, input: {}, ...more });

function withResolvers() {
  let resolve = () => {};
  const promise = /** @type {Promise<void>} */ (new Promise((done) => void (resolve = done)));
  return { promise, resolve };
}

test("a reader that leaves ends nothing but its own reading", async () => {
  const [version] = VERSIONS;
  if (!version) return;
  await inStores(async (store, other) => {
    const { steps, saved } = await startRun(version, store);
    const ended = new AbortController();
    const [one, two, three] = await Promise.all([
      resumeStream(other, chatId),
      resumeStream(other, chatId, { signal: ended.signal }),
      resumeStream(other, chatId),
    ]);
    const read = readAll(version, three);
    await one?.cancel();
    ended.abort();
    assert.deepEqual(await two?.getReader().read(), { value: undefined, done: true });
    for (const [place, chunks] of STEPS.entries()) {
      steps[place]?.say(...chunks);
      steps[place]?.end();
    }
    await saved;
    assert.deepEqual(await read, (await loadChat(other, chatId))[1]);
  });
});

const PROGRAM = fileURLToPath(new URL("ai-sdk-program.js", import.meta.url));

/** A program whose answer grows by what it is sent. @param {(places: { home: string, folder: string, child: any, store: Store }) => Promise<void>} work */
async function inProgram(work) {
  const folder = mkdtempSync(join(tmpdir(), "leftoff-ai-"));
  const home = join(folder, "home");
  const child = spawn(process.execPath, [PROGRAM, home, folder, "stream"], { stdio: ["pipe", "inherit", "inherit"] });
  const store = await openStore({ home, project: folder });
  const changes = (await openChat(store, chatId)).follow();
  try {
    await changes.next();
    await work({ home, folder, child, store });
  } finally {
    await changes.return(undefined);
    await store.close();
    child.kill("SIGKILL");
    rmSync(folder, { recursive: true });
  }
}

for (const isKilled of [false, true])
  test(`two readers follow the answer of another process${isKilled ? ", which is killed" : ""}`, async () => {
    const [version] = VERSIONS;
    if (!version) return;
    await inProgram(async ({ child, store }) => {
      const streams = await Promise.all([1, 2].map(() => resumeStream(store, chatId)));
      const [said, other] = /** @type {ReadableStream<any>[]} */ (streams);
      /** @type {string[]} */
      const types = [];
      const told = said?.pipeThrough(
        new TransformStream({ transform: (chunk, to) => (types.push(chunk.type), to.enqueue(chunk)) }),
      );
      child.stdin.write("It is ");
      child.stdin.write("in src.\n");
      const exit = once(child, "exit");
      const end = (/** @type {any} */ { parts: [part] }) => {
        if (part?.text === "It is in src." && part.state === "streaming")
          isKilled ? child.kill("SIGKILL") : child.stdin.end();
      };
      const read = await Promise.all([readAll(version, told, end), readAll(version, other)]);
      await exit;
      const [, answer] = await loadChat(store, chatId);
      const state = isKilled ? "streaming" : "done";
      assert.deepEqual(answer, message("a", "assistant", { type: "text", text: "It is in src.", state }));
      assert.deepEqual(read, [answer, answer]);
      assert.equal(types.at(-1), isKilled ? "abort" : "finish");
      assert.equal(await resumeStream(store, chatId), null);
    });
  });

test("nothing is gone on with where nothing is said, and what cannot be meant is refused", async () => {
  await inStores(async (store, other) => {
    assert.equal(await resumeStream(other, "unknown"), null);
    await saveChat(store, { chatId, messages: [QUESTION] });
    assert.equal(await resumeStream(other, chatId), null);
    const partial = { type: "text", text: "It is", state: "streaming" };
    await saveChat(store, { chatId, messages: [QUESTION, message("a", "assistant", partial)] });
    assert.equal(await resumeStream(other, chatId), null);
    for (const [refused, expected] of /** @type {[() => Promise<unknown>, RegExp][]} */ ([
      [() => resumeStream(other, ""), /expected a chat's id, a text, but found "" instead/],
      [() => saveStream(store, /** @type {any} */ ({ chatId, messages: [] })), /expected an answer as it grows/],
      [() => saveStream(store, /** @type {any} */ ({ chatId, answer: [] })), /expected the chat's messages, an array/],
    ]))
      await assert.rejects(refused, { code: "invalid_request", message: expected });
  });
});
