// @ts-check
/**
 * Appends to a session on a disk that becomes full, and says what was acknowledged and what was refused, one line of
 * JSON each. At "full" it waits until it is told that there is room, and goes on with the same store.
 * `<home> <seed>`
 */

import { once } from "node:events";
import { writeSync } from "node:fs";
import process from "node:process";
import { openStore } from "../../js/index.js";
import { chance, digest } from "./tools.mjs";

/** After so many refusals the disk is as full as it gets; small records still found room behind the first. */
const REFUSALS = 6;
const MAX_BYTES = 400 * 1024;
const APPENDS_WITH_ROOM = 20;

const [home = "", seed = ""] = process.argv.slice(2);
const random = chance(Number(seed));
let refusals = 0;

/** @param {unknown} what */
function say(what) {
  writeSync(1, `${JSON.stringify(what)}\n`);
}

/** @template T @param {string} what @param {() => Promise<T>} work @returns {Promise<T | null>} */
async function tryWork(what, work) {
  try {
    return await work();
  } catch (error) {
    refusals += 1;
    const { name, code, message } = /** @type {Error & { code?: string }} */ (error);
    say({ refused: what, name, code, message });
    return null;
  }
}

/** @param {import("../../js/session/session.js").Session} session */
async function append(session) {
  const drafts = Array.from({ length: 1 + random.below(3) }, () => ({
    role: "user",
    content: "é".repeat(random.size(100, MAX_BYTES) / 2),
  }));
  const durability = random.below(2) ? "durable" : "buffered";
  const done = await tryWork("append", () => session.append(drafts, { durability }));
  if (done) say({ kept: done.records.map(({ id }, at) => ({ id, hash: digest(drafts[at]) })) });
  // Metadata and checkpoint are replaced.
  if (random.below(5) === 0) await tryWork("close", () => session.close());
}

const store = await openStore({ home, project: "/" });
let session = await tryWork("create", () => store.continue());
while (session && refusals < REFUSALS) await append(session);
say("full");
await once(process.stdin, "data");
refusals = 0;
session ??= await tryWork("create", () => store.continue());
for (let n = 0; session && n < APPENDS_WITH_ROOM; n += 1) await append(session);
await tryWork("close", () => store.close());
say({ id: session?.id });
process.stdin.destroy();
