// @ts-check
/** Two programs of the OpenAI Agents SDK go on with one session; they are killed, and say again what was not answered. */
// Tries: js/openai/, src/operation/append_once.rs

import assert from "node:assert/strict";
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { openStore } from "../../js/index.js";
import { session } from "../../js/openai/index.js";
import { chance, scene } from "./tools.mjs";

/** @import { Start } from "./tools.mjs" */
/** @typedef {ReturnType<typeof chance>} Chance */

const RUNNER = fileURLToPath(new URL("openai-runner.mjs", import.meta.url));
const NAMES = ["Ann", "Bob"];
const TRANSACTIONS = 20;
const KILLS_PER_SESSION = 10;

/** @type {import("../../scripts/faults.mjs").Fault} */
export default {
  title:
    "two programs of the OpenAI Agents SDK on one session, killed at any moment: each transaction is there once, whole",
  async run({ scaled, seed }) {
    const random = chance(seed);
    const wanted = scaled(200);
    const counts = { kills: 0, sessions: 0, transactions: 0, "said again": 0 };
    await scene("openai", async ({ folder, start }) => {
      while (counts.kills < wanted) {
        const home = join(folder, String(counts.sessions));
        mkdirSync(home);
        await oneSession({ home, start, random, counts, kills: Math.min(KILLS_PER_SESSION, wanted - counts.kills) });
        rmSync(home, { recursive: true });
      }
    });
    return counts;
  },
};

/** @param {{ home: string, start: Start, random: Chance, counts: Record<string, number>, kills: number }} options */
async function oneSession({ home, start, random, counts, kills }) {
  let left = kills;
  const run = async (/** @type {string} */ name) => {
    for (let from = 0; ;) {
      const child = start(process.execPath, [RUNNER, home, name, String(TRANSACTIONS), String(from)]);
      if (left > 0) {
        left -= 1;
        const heard = 1 + random.below(TRANSACTIONS);
        await child.until((said) => said.length >= heard);
        child.kill();
      }
      const { code, signal, stderr } = await child.ended;
      if (signal === "SIGKILL") counts.kills = (counts.kills ?? 0) + 1;
      else assert.equal(code, 0, stderr);
      if (code === 0) return;
      // The last one that was acknowledged is said again, too.
      from = Math.max(from, child.said.at(-1) ?? 0);
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
