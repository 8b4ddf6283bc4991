// @ts-check
// What is selected in the viewer, what is copied of it, and the place that a reader comes back to.
// Tries: js/viewer/selection.js, js/viewer/last-read.js, js/viewer/keys.js

import assert from "node:assert/strict";
import { test } from "node:test";
import { MemoryStorage, openStore } from "../../js/index.js";
import { nativeAgents } from "../../js/agents/clients.js";
import { agents } from "../../js/wasm/agents.js";
import { LastRead } from "../../js/viewer/last-read.js";
import { Model } from "../../js/viewer/model.js";
import { RESUMING_AGENTS, textOfRows } from "../../js/viewer/selection.js";

const SECRET = `sk-ant-api03-${"Zk4bQ9".repeat(14)}abcdefgh-AA`;
const call = { id: "c", name: "Bash", arguments: '{"command":"ls"}' };
/** @type {import("../../js/index.js").Draft[]} */
const SAID = [
  { id: "a", role: "user", content: `Use ${SECRET}.\n\n\`\`\`\nleft open` },
  { id: "b", role: "assistant", content: "", assistant: { toolCalls: [call], reasoning: [{ text: "I list." }] } },
  { id: "c", role: "tool", content: "``` in a file", tool: { callId: "c", name: "Bash", exitCode: 1, isError: true } },
  { id: "d", role: "assistant", content: "Done." },
  { id: "e", role: "user", content: "Go on." },
];

/** @param {"off" | "replace"} redact */
async function openSaid(redact) {
  const store = await openStore({ storage: new MemoryStorage(), home: "/home", project: "/project", redact });
  const session = await store.create({ title: "Copied" });
  await session.append(SAID);
  const model = new Model(session.metadata);
  const messages = [];
  for await (const message of session.messages({ allBranches: true })) messages.push(message);
  model.add(messages);
  return { store, session, model };
}

/** @param {Model} model */
const chosen = ({ selection }) => selection.rows.map(({ id }) => id).join("");

test("a row is selected and taken out, and extending goes to and fro", async () => {
  const { model } = await openSaid("off");
  const { selection, rows } = model;
  assert.equal(rows.map(({ id }) => id).join(""), "abde");
  selection.toggle(rows[0]);
  selection.extend(2, 3);
  assert.equal(chosen(model), "ade");
  selection.extend(3, 2);
  selection.extend(2, 1);
  assert.equal(chosen(model), "abd");
  selection.toggle(rows[0]);
  assert.equal(chosen(model), "bd");
  assert.equal(selection.clear(), true);
  assert.equal(selection.clear(), false);
  model.cursor = 3;
  assert.deepEqual(
    selection.targets.map(({ id }) => id),
    ["e"],
  );
});

test("a selection is the Markdown and the JSON that an export has of these messages", async () => {
  const { store, session, model } = await openSaid("off");
  const source = { store, session };
  const whole = await session.export("markdown");
  assert.equal(await textOfRows(source, model.rows, "markdown"), whole.slice(whole.indexOf("\n## ") + 1));
  const { messages } = JSON.parse(await session.export("json"));
  assert.deepEqual(JSON.parse(await textOfRows(source, model.rows.slice(1, 3), "json")), messages.slice(1, 4));
  const block = await textOfRows(source, model.rows.slice(2), "resume");
  const { block: expected } = await session.resume({ window: 8_000, encoding: "estimate-1", revives: false });
  assert.ok(block.startsWith(expected), block);
  assert.deepEqual(
    [...block.matchAll(/^\{.*\}$/gm)].map(([line]) => JSON.parse(line).content),
    ["Done.", "Go on."],
  );
});

test("secrets are replaced in what is copied where the store is set so", async () => {
  for (const redact of /** @type {const} */ (["off", "replace"])) {
    const { store, session, model } = await openSaid(redact);
    for (const format of /** @type {const} */ (["markdown", "json", "resume"])) {
      const text = await textOfRows({ store, session }, model.rows, format);
      assert.equal(text.includes(SECRET), redact === "off", `${redact} ${format}`);
    }
  }
});

test("a session goes on in each agent that a session is written for", async () => {
  await agents.ready();
  assert.deepEqual(RESUMING_AGENTS, nativeAgents().toSorted());
});

test("the place of a reader is kept once the reader has moved, and is nothing where nothing is kept", async (t) => {
  const { session, model } = await openSaid("off");
  /** @type {Map<string, string>} */
  const kept = new Map();
  const storage = { getItem: (/** @type {string} */ key) => kept.get(key) ?? null, setItem: kept.set.bind(kept) };
  const had = Object.getOwnPropertyDescriptor(globalThis, "localStorage");
  t.after(() => Object.defineProperty(globalThis, "localStorage", had ?? { value: undefined, configurable: true }));
  Object.defineProperty(globalThis, "localStorage", { value: storage, configurable: true });
  const first = new LastRead(session.id);
  assert.equal(first.placeIn(model), undefined);
  model.isWhole = true;
  model.view = { first: 0, last: 1 };
  first.note(model);
  assert.equal(kept.size, 0, "who has not moved has read nothing");
  model.view = { first: 1, last: 2 };
  first.note(model);
  const again = new LastRead(session.id);
  assert.equal(again.placeIn(model), 2);
  assert.equal(again.countNew(model), 0);
  model.add([/** @type {any} */ ({ id: "f", role: "assistant", content: "New." })]);
  assert.equal(again.countNew(model), 1);
  assert.equal(again.isReached, false);
  again.note(model);
  assert.equal(again.isReached, true);
  for (const text of ["{", "[]", "null", '{"message":1,"count":"x"}']) {
    kept.set(`leftoff read ${session.id}`, text);
    assert.equal(new LastRead(session.id).before, undefined, text);
  }
  const refuse = () => {
    throw new Error("refused");
  };
  Object.defineProperty(globalThis, "localStorage", { get: refuse, configurable: true });
  new LastRead(session.id).note(model);
});
