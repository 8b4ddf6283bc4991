// @ts-check
/**
 * Appends to the newest session of a store, or a new one, until the disk is gone: `<home> <seed>`. Says what was
 * acknowledged, how, and when, by the clock that all processes share, in microseconds.
 */

import { writeSync } from "node:fs";
import process from "node:process";
import { openStore } from "../../js/index.js";
import { chance, digest } from "./tools.mjs";

const [home = "", seed = ""] = process.argv.slice(2);
const random = chance(Number(seed));

/** @param {unknown} what */
function say(what) {
  writeSync(1, `${JSON.stringify(what)}\n`);
}

const store = await openStore({ home, project: "/" });
const session = await store.continue();
say({ session: session.id });
for (let number = 0; ; number += 1) {
  const drafts = Array.from({ length: 1 + random.below(3) }, () => {
    const length = random.below(15) === 0 ? 300_000 : random.size(20, 20_000);
    return { role: "user", content: `${seed} ${number} `.padEnd(length, "é\n") };
  });
  const durability = random.below(2) === 0 ? "durable" : "buffered";
  const { records, acknowledged } = await session.append(drafts, { durability });
  say({
    acknowledged,
    atUs: Number(process.hrtime.bigint() / 1000n),
    kept: records.map(({ id }, at) => ({ id, hash: digest(drafts[at]) })),
  });
}
