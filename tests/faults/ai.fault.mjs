// @ts-check
/** Two programs of the AI SDK hold one chat, in turns or at once, and save answers while they stream; they are killed, and go on. */
// Tries: js/ai/, js/sdk/originals.js

import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { validateUIMessages } from "ai-current";
import { loadChat, openChat } from "../../js/ai/index.js";
import { screens } from "../../js/ai/screen.js";
import { openStore } from "../../js/index.js";
import { CHAT, answerTo, textOf } from "./ai-texts.mjs";
import { killInSessions, runOrKill } from "./killed.mjs";

/** @import { ReadMessage } from "../../js/types/index.js" */
/** @typedef {{ round: number, id: string, role: string, text: string, isWhole: boolean }} Saved a save that was acknowledged */

const PROGRAM = fileURLToPath(new URL("ai-chat.mjs", import.meta.url));
const NAMES = ["Ann", "Bob"];
const ROUNDS = 2;
/** How many saves a round has, about. */
const SAVES = 20;

/** @type {import("../../scripts/faults.mjs").Fault} */
export default {
  title:
    "two programs of the AI SDK hold one chat, killed at any moment: each message that was saved is there, whole or marked, and once where they take turns",
  async run({ scaled, seed }) {
    const counts = {
      kills: 0,
      sessions: 0,
      "in turns": 0,
      saves: 0,
      messages: 0,
      "partial answers": 0,
      doubled: 0,
      "loaded twice": 0,
    };
    await killInSessions({ name: "ai", wanted: scaled(200), seed, counts }, holdSession);
    return counts;
  },
};

/** @param {import("./killed.mjs").KilledSession} killed */
async function holdSession(killed) {
  const { home, random, counts } = killed;
  /** The last save of each message. @type {Map<string, Saved>} */
  const saved = new Map();
  const run = async (/** @type {string} */ name) => {
    for (let from = 0; ;) {
      const args = [PROGRAM, home, name, String(ROUNDS), String(from)];
      const { isDone, said } = await runOrKill(args, () => random.below(ROUNDS * SAVES), killed);
      for (const one of said) saved.set(one.id, one);
      count(counts, "saves", said.length);
      if (isDone) return;
      from = said.at(-1)?.round ?? from;
    }
  };
  const isInTurns = random.below(2) === 0;
  if (isInTurns) for (const name of NAMES) await run(name);
  else await Promise.all(NAMES.map(run));
  count(counts, "sessions", 1);
  count(counts, "in turns", Number(isInTurns));
  count(counts, "messages", saved.size);
  const store = await openStore({ home, project: "/" });
  try {
    const all = [];
    for await (const message of (await openChat(store, CHAT)).messages({ allBranches: true })) all.push(message);
    for (const one of saved.values()) checkSaved(all, one, counts);
    const doubled = countDoubled(all);
    if (isInTurns) assert.equal(doubled, 0, "messages and calls that are there twice");
    count(counts, "doubled", doubled);
    const repeated = await checkChat(await loadChat(store, CHAT));
    if (isInTurns) assert.equal(repeated, 0, "messages that are loaded twice");
    count(counts, "loaded twice", repeated);
  } finally {
    await store.close();
  }
}

/** @param {import("./killed.mjs").Counts} counts @param {string} what @param {number} more */
function count(counts, what, more) {
  counts[what] = (counts[what] ?? 0) + more;
}

/**
 * A message is there whole, whichever branch it is on, or as far as it was saved, and then marked.
 * @param {ReadMessage[]} all @param {Saved} saved @param {import("./killed.mjs").Counts} counts
 */
function checkSaved(all, { id, role, text, isWhole }, counts) {
  const groups = groupsOf(all, id);
  const messages = groups.map((group) => screens.restore(group));
  const question = id.replace(/\.$/, "?");
  const whole = role === "user" ? question : answerTo(question);
  const texts = messages.map(({ parts }) => textOf(parts));
  for (const found of texts) assert.ok(whole.startsWith(found), `${id}: ${found}`);
  // What a run has saved already a screen does not save before it has it all; and nothing is kept of what says nothing.
  const isSaid = all.some(({ content }) => content.startsWith(text));
  assert.ok(isWhole ? texts.includes(whole) : isSaid, `${id}: ${texts.join(", ")}, saved as ${text}`);
  for (const [place, { parts }] of messages.entries()) {
    const isStreaming = parts.some((part) => Reflect.get(part, "state") === "streaming");
    assert.equal(groups[place]?.at(-1)?.partial === true, isStreaming, `${id}, ${isStreaming ? "" : "not "}partial`);
    count(counts, "partial answers", Number(isStreaming));
  }
}

/** The records of a screen's message, on each branch that has it. @param {ReadMessage[]} all @param {string} id */
function groupsOf(all, id) {
  const own = all.filter((record) => screens.idOf(record) === id);
  return own.flatMap((head) => {
    if (!screens.isHead(head)) return [];
    const group = [head];
    for (let next; (next = own.find(({ parentId }) => parentId === group.at(-1)?.id));) group.push(next);
    return [group];
  });
}

/** How many messages and calls are on more than one branch: two programs that write at once keep out of each other's way. @param {ReadMessage[]} all */
function countDoubled(all) {
  const heads = all.filter((record) => screens.isHead(record)).map((record) => screens.idOf(record));
  const calls = all.flatMap(({ assistant }) => (assistant?.toolCalls ?? []).map(({ id }) => id));
  return [heads, calls].reduce((sum, ids) => sum + ids.length - new Set(ids).size, 0);
}

/**
 * What the next program loads is a chat, with each program's questions in their order; answers how many messages are in
 * it once more.
 * @param {any[]} messages
 */
async function checkChat(messages) {
  await validateUIMessages({ messages });
  const ids = messages.map(({ id }) => id);
  for (const name of NAMES) {
    const rounds = ids.flatMap((id) => new RegExp(`^${name} (\\d+) \\d+\\?$`).exec(id)?.[1] ?? []).map(Number);
    assert.deepEqual(
      rounds,
      rounds.toSorted((a, b) => a - b),
    );
  }
  return ids.length - new Set(ids).size;
}
