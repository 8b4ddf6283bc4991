// @ts-check
/** Two programs of the OpenAI Agents SDK go on with one session; they are killed, and say again what was not answered. */
// Tries: js/openai/, src/operation/append_once.rs

import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { openStore } from "../../js/index.js";
import { session } from "../../js/openai/index.js";
import { killInSessions, runOrKill } from "./killed.mjs";

const RUNNER = fileURLToPath(new URL("openai-runner.mjs", import.meta.url));
const NAMES = ["Ann", "Bob"];
const TRANSACTIONS = 20;

/** @type {import("../../scripts/faults.mjs").Fault} */
export default {
  title:
    "two programs of the OpenAI Agents SDK on one session, killed at any moment: each transaction is there once, whole",
  async run({ scaled, seed }) {
    const counts = { kills: 0, sessions: 0, transactions: 0, "said again": 0 };
    await killInSessions({ name: "openai", wanted: scaled(200), seed, counts }, holdSession);
    return counts;
  },
};

/** @param {import("./killed.mjs").KilledSession} killed */
async function holdSession(killed) {
  const { home, random, counts } = killed;
  const run = async (/** @type {string} */ name) => {
    for (let from = 0; ;) {
      const args = [RUNNER, home, name, String(TRANSACTIONS), String(from)];
      const { isDone, said } = await runOrKill(args, () => 1 + random.below(TRANSACTIONS), killed);
      if (isDone) return;
      // The last one that was acknowledged is said again, too.
      from = Math.max(from, said.at(-1) ?? 0);
      counts["said again"] = (counts["said again"] ?? 0) + 1;
    }
  };
  await Promise.all(NAMES.map(run));
  counts.sessions = (counts.sessions ?? 0) + 1;
  const store = await openStore({ home, project: "/" });
  const items = await session({ store, id: "chat" }).getItems();
  await store.close();
  const texts = items.map(({ content }) =>
    typeof content === "string" ? content : /** @type {any} */ (content)[0].text,
  );
  for (const name of NAMES)
    assert.deepEqual(
      texts.filter((text) => text.startsWith(name)),
      Array.from({ length: TRANSACTIONS }, (_, number) => [`${name} ${number}?`, `${name} ${number}.`]).flat(),
    );
  for (const [place, text] of texts.entries())
    if (place % 2 === 0)
      assert.equal(texts[place + 1], text.replace("?", "."), "a question and its answer stand together");
  counts.transactions = (counts.transactions ?? 0) + texts.length / 2;
}
