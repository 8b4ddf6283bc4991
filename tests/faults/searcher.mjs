// @ts-check
/**
 * Says something that nobody else says, and searches for it, again and again, until it is killed: `<home> <number>
 * <seed>`. Tells what was acknowledged.
 */

import assert from "node:assert/strict";
import process from "node:process";
import { openStore } from "../../js/index.js";
import { chance } from "./tools.mjs";

const [home = "", number = "", seed = ""] = process.argv.slice(2);
const random = chance(Number(seed));
const store = await openStore({ home, project: "/", idleMs: Infinity });
const session = await store.create({ title: `Of ${number}` });

/** A word that is nobody's but this one's. @param {number} nth */
const word = (nth) =>
  `quix${[...`${number}x${nth}`].map((letter) => (letter === "x" ? "z" : "abcdefghij"[Number(letter)])).join("")}`;

for (let nth = 0; ; nth += 1) {
  // Some are long enough for a file of the index, many together for several.
  await session.append({ role: "user", content: `${word(nth)} ${"lorem ".repeat(random.size(10, 40_000))}` });
  console.log(JSON.stringify({ word: word(nth), id: session.id }));
  const found = new Set();
  const asked = word(random.below(nth + 1));
  for await (const hit of store.search(asked, { all: true })) if (hit.found === "all") found.add(hit.session.id);
  assert.deepEqual([...found], [session.id], asked);
}
