// @ts-check
/**
 * Puts a link in the place of a file or folder and takes it away again, over and over. Told by lines of JSON on stdin:
 * `{ place, target, aside }` begins, `{}` ends and puts back what was there. Answers each with a line.
 */

import { linkSync, lstatSync, renameSync, rmSync, symlinkSync, unlinkSync, writeSync } from "node:fs";
import process from "node:process";
import { createInterface } from "node:readline";

/** @type {{ place?: string, target?: string, aside?: string }} */
let told = {};
let swaps = 0;

/** Others make, open and remove the same files meanwhile. @param {() => void} step */
function attempt(step) {
  try {
    step();
  } catch (error) {
    if (!(error instanceof Error && "syscall" in error)) throw error;
  }
}

/** @param {Required<typeof told>} options */
function swapIn({ place, target, aside }) {
  const isFile = lstatSync(place, { throwIfNoEntry: false })?.isFile();
  // A file is never missed: the link takes its place in one step. A folder has to go first.
  if (isFile) linkSync(place, aside);
  else attempt(() => renameSync(place, aside));
  symlinkSync(target, `${aside}.link`);
  renameSync(`${aside}.link`, place);
  swaps += 1;
}

/** @param {Required<typeof told>} options */
function swapBack({ place, aside }) {
  attempt(() => rmSync(`${aside}.link`));
  attempt(() => {
    if (!lstatSync(place).isSymbolicLink()) return;
    if (!lstatSync(aside, { throwIfNoEntry: false })?.isFile()) unlinkSync(place);
  });
  attempt(() => renameSync(aside, place));
  // What was made in the meantime stays; the other one is out of the way for the next round.
  attempt(() => rmSync(aside, { recursive: true }));
}

function round() {
  const { place, target, aside } = told;
  if (!place || !target || !aside) return;
  attempt(() => swapIn({ place, target, aside }));
  swapBack({ place, target, aside });
  setImmediate(round);
}

for await (const line of createInterface({ input: process.stdin })) {
  told = JSON.parse(line);
  swaps = told.place ? 0 : swaps;
  writeSync(1, `${JSON.stringify({ swaps })}\n`);
  setImmediate(round);
}
