// @ts-check
// A program that the tests start, and kill: it runs the AI SDK in a session, or saves a chat.
// Arguments: the store's folder, the project's, what to do, the program's name.

import process from "node:process";
import { createInterface } from "node:readline";
import { contextFor, loadChat, openChat, saveAnswer, saveChat, saveStream } from "../../js/ai/index.js";
import { openStore } from "../../js/index.js";
import { VERSIONS, call, message, modelOf, text, toolsOf } from "./ai-sdk.js";

const [home, project = "", work, name = ""] = process.argv.slice(2);
const [version] = /** @type {[import("./ai-sdk.js").Version]} */ (VERSIONS);
const store = await openStore({ home, project });
const ROUNDS = 8;

/** Tells the test, which may kill this process before the promise is kept. @param {string} line */
const tell = (line) => new Promise((done) => process.stdout.write(`${line}\n`, () => done(undefined)));

if (work === "steps") {
  // Before each step, it tells how many are saved; and it never ends by itself.
  const contents = Array.from({ length: 99 }, (_, place) => [call(`call_${name}_${place}`)]);
  const model = modelOf(version, contents, (place) => tell(String(place)));
  const prepareStep = contextFor(await openChat(store, "chat"), { window: 100_000 });
  await version.sdk.generateText({
    model,
    prompt: `Go on, ${name}.`,
    tools: toolsOf(version),
    stopWhen: version.stopAfter(99),
    prepareStep,
  });
} else if (work === "runs") {
  const session = await openChat(store, "chat");
  for (let round = 0; round < ROUNDS; round += 1) {
    const id = `${name}_${round}`;
    const model = modelOf(version, [[call(id)], [text(`Done ${id}.`)]]);
    const options = { prepareStep: contextFor(session, { window: 100_000 }), onEnd: saveAnswer(session) };
    await version.sdk.generateText({
      model,
      prompt: `Do ${id}.`,
      tools: toolsOf(version),
      stopWhen: version.stopAfter(3),
      ...options,
    });
  }
} else if (work === "stream") {
  // The answer grows with each line that the test sends, and ends with the input.
  async function* grow() {
    let said = "";
    const stateOf = (/** @type {string} */ state) => message("a", "assistant", { type: "text", text: said, state });
    for await (const line of createInterface(process.stdin)) {
      said += line;
      yield stateOf("streaming");
    }
    yield stateOf("done");
  }
  await saveStream(store, { chatId: "chat", messages: [message("q", "user", "Where is it?")], answer: grow() });
} else {
  for (let round = 0; round < ROUNDS; round += 1) {
    const messages = [...(await loadChat(store, "chat"))];
    for (const role of /** @type {const} */ (["user", "assistant"])) {
      const id = `${role}_${name}_${round}`;
      messages.push({ id, role, parts: [{ type: "text", text: `This is ${id}.` }] });
      await saveChat(store, { chatId: "chat", messages });
    }
  }
}
await store.close();
