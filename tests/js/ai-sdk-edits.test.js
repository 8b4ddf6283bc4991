// @ts-check
// Any chat, and any edits of one: what is loaded is what was saved last, and what is saved again adds nothing.
// Tries: js/ai/plan.js, js/ai/screen.js, js/sdk/originals.js
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import * as current from "ai-current";
import fc from "fast-check";

import { loadChat, openChat, saveChat } from "../../js/ai/index.js";
import { MemoryStorage, openStore } from "../../js/index.js";
import { message, tool } from "./ai-sdk.js";

// Any chat that the SDK finds right, in the shapes that it has.
const word = fc.string({ minLength: 1, maxLength: 30 });
const json = fc.jsonValue({ maxDepth: 2 }).map((value) => JSON.parse(JSON.stringify(value)));
const PARTS = {
  text: fc.record(
    { type: fc.constant("text"), text: fc.string(), state: fc.constantFrom("streaming", "done") },
    { requiredKeys: ["type", "text"] },
  ),
  file: fc.record({
    type: fc.constant("file"),
    mediaType: fc.constant("image/png"),
    url: fc.base64String().map((data) => `data:image/png;base64,${data}`),
  }),
  data: fc.record({ type: fc.constant("data-any"), data: json }),
  start: fc.record({ type: fc.constant("step-start") }),
  reasoning: fc.record({ type: fc.constant("reasoning"), text: fc.string() }),
  call: fc.oneof(
    fc.record({ state: fc.constant("input-available"), input: json }),
    fc.record({ state: fc.constant("output-available"), input: json, output: json }),
    fc.record({ state: fc.constant("output-error"), input: json, errorText: word }),
  ),
};
const anyChat = fc
  .array(
    fc.tuple(
      fc.constantFrom("user", "assistant"),
      fc.array(fc.oneof(PARTS.text, PARTS.file, PARTS.data, PARTS.start, PARTS.reasoning, PARTS.call), {
        minLength: 1,
        maxLength: 6,
      }),
      fc.option(json, { nil: undefined }),
    ),
    { minLength: 1, maxLength: 5 },
  )
  .map((all) =>
    all.map(([role, parts, metadata], place) => {
      const fitting = parts.flatMap((/** @type {any} */ part, at) => {
        if (role === "user") return ["text", "file", "data-any"].includes(part.type) ? [part] : [];
        return [part.type ? part : { type: "tool-any", toolCallId: `call_${place}_${at}`, ...part }];
      });
      const shown = fitting.length > 0 ? fitting : [{ type: "text", text: "" }];
      return JSON.parse(JSON.stringify({ id: `m${place}`, role, metadata, parts: shown }));
    }),
  );

test("any chat is loaded as it was saved, also by another process, and adds nothing when it is saved again", async () => {
  const folder = mkdtempSync(join(tmpdir(), "leftoff-chats-"));
  const open = () => openStore({ home: join(folder, "home"), project: folder });
  const store = await open();
  let count = 0;
  await fc.assert(
    fc.asyncProperty(anyChat, async (messages) => {
      const id = `chat ${(count += 1)}`;
      await current.validateUIMessages({ messages: /** @type {any} */ (messages) });
      for (let place = 1; place <= messages.length; place += 1)
        await saveChat(store, { chatId: id, messages: /** @type {any} */ (messages.slice(0, place)) });
      assert.deepEqual(await loadChat(store, id), messages);
      const session = await openChat(store, id);
      const log = () => readFileSync(join(session.path, "messages.jsonl"), "utf8");
      const before = log();
      await saveChat(store, { chatId: id, messages: /** @type {any} */ (messages) });
      assert.equal(log(), before);
      const other = await open();
      assert.deepEqual(await loadChat(other, id), messages);
      await other.close();
    }),
    { numRuns: 60, seed: 7 },
  );
  await store.close();
  rmSync(folder, { recursive: true });
});

/** What a screen may do to a chat, one after another: how, and where. */
const anyEdits = fc.array(fc.tuple(fc.constantFrom("say", "say", "again", "mark", "both", "back"), fc.nat()), {
  maxLength: 9,
});

/** A message that is said for the first time. @param {any[]} list @param {number} count */
function sayNext(list, count) {
  const id = `m${count}`;
  if (list.length % 2 === 0) return message(id, "user", `Question ${count}`);
  if (count % 3 > 0) return message(id, "assistant", { type: "step-start" }, `Answer ${count}`);
  const part = tool(`call_${count}`, { state: "output-available", output: `found ${count}` });
  return message(id, "assistant", { type: "step-start" }, part, { type: "step-start" }, `Answer ${count}`);
}

test("whatever a screen does to a chat, what is loaded is the list that was saved last", async () => {
  const store = await openStore({ home: "/home", project: "/project", storage: new MemoryStorage() });
  let chats = 0;
  await fc.assert(
    fc.asyncProperty(anyEdits, async (edits) => {
      const id = `chat ${(chats += 1)}`;
      /** @type {any[][]} */
      const lists = [[sayNext([], 0)]];
      await saveChat(store, { chatId: id, messages: lists[0] ?? [] });
      for (const [count, [how, some]] of edits.entries()) {
        const list = lists.at(-1) ?? [];
        // Behind the first message at least, which stays.
        const kept = list.slice(0, 1 + (some % list.length));
        const earlier = lists[some % lists.length] ?? [];
        const marked = list.map((one, place) => (place === kept.length - 1 ? { ...one, metadata: { count } } : one));
        const next = {
          say: [...list, sayNext(list, count + 1)],
          again: [...kept, sayNext(kept, count + 1)],
          mark: marked,
          both: [...marked, sayNext(list, count + 1)],
          back: [...earlier, sayNext(earlier, count + 1)],
        }[how];
        lists.push(next);
        await saveChat(store, { chatId: id, messages: next });
        assert.deepEqual(await loadChat(store, id), next);
      }
    }),
    { numRuns: 120, seed: 7 },
  );
  await store.close();
});
