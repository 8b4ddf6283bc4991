// @ts-check
/** Texts that a tokenizer's pattern leaves in one piece. */

import { chance } from "../tests/faults/tools.mjs";

/** @type {Record<string, (random: ReturnType<typeof chance>) => string>} one letter, `random` says which */
const RUNS = {
  "one letter": () => "a",
  blanks: () => " ",
  dashes: () => "-",
  "random a-z": (random) => String.fromCodePoint(0x61 + random.below(26)),
  CJK: (random) => String.fromCodePoint(0x4e00 + random.below(0x5000)),
  emoji: (random) => String.fromCodePoint(0x1f300 + random.below(0x300)),
};

export const NAMES = Object.keys(RUNS);

/** A run of at least so many bytes of UTF-8. @param {string} name @param {number} bytes */
export function runOf(name, bytes) {
  const draw = RUNS[name];
  if (!draw) throw new Error(`expected ${NAMES.join(", ")}, but found ${name} instead`);
  const random = chance(1);
  const each = Buffer.byteLength(draw(random));
  return Array.from({ length: Math.ceil(bytes / each) }, () => draw(random)).join("");
}
