// @ts-check
/**
 * Appends operations to a session, again and again, and says of each, once it is acknowledged, what was stored: one
 * line of JSON each. Whoever is killed is started with the same plan, and tries the same operations. `<home> <session
 * id> <plan>`:
 * @typedef {object} Plan
 * @property {number} seed
 * @property {number} writer its number
 * @property {number} shared how many operations all writers have
 * @property {number} own how many it has of its own, each behind the message that is the last one
 */

import { writeSync } from "node:fs";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { openStore } from "../../js/index.js";
import { chance } from "./tools.mjs";
import { messagesOf } from "./shared-session.mjs";

const [home = "", id = "", json = ""] = process.argv.slice(2);
/** @type {Plan} */
const { seed, writer, shared, own } = JSON.parse(json);
const random = chance(seed * 64 + writer);

/** @param {unknown} what */
function say(what) {
  // In one piece, and gone before the next step: a kill must not take away what was acknowledged.
  writeSync(1, `${JSON.stringify(what)}\n`);
}

async function main() {
  const store = await openStore({ home, project: "/" });
  const session = await store.session(id);
  const all = [
    ...Array.from({ length: shared }, (_, at) => `shared-${at}`),
    ...Array.from({ length: own }, (_, at) => `own-${writer}-${at}`),
  ];
  for (const operation of shuffle(all)) {
    const durability = random.below(4) === 0 ? "durable" : "buffered";
    say("try");
    for (let isDone = false; !isDone;) {
      /** @type {string | null | undefined} */
      let expected;
      if (operation.startsWith("own")) {
        expected = null;
        for await (const last of session.messages({ newestFirst: true })) {
          expected = last.id;
          break;
        }
      }
      const { records, code, came } = await session
        .append(messagesOf(operation), { operation, expected, durability })
        .catch((error) => error);
      if (code && code !== "conflict") throw new Error(code);
      if (code && !came?.length) throw new Error("it does not say what came");
      isDone = !code;
      say(
        records
          ? { operation, told: records.map((/** @type {any} */ { id, timestamp }) => [id, timestamp]) }
          : "conflict",
      );
    }
  }
  await store.close();
}

/** @template T @param {T[]} all @returns {T[]} */
function shuffle(all) {
  return all
    .map((one) => ({ one, at: random.real() }))
    .sort((a, b) => a.at - b.at)
    .map(({ one }) => one);
}

// Whoever checks has to know what was appended.
if (process.argv[1] === fileURLToPath(import.meta.url)) await main();
