// @ts-check
/** Runs a script in folders of its own, and says what came out: the answer of each step, the files at the end. */

import { mkdirSync, mkdtempSync, readFileSync, readdirSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

import { countTokens } from "../../../js/index.js";
import { filesIn } from "./disk.mjs";
import { Host } from "./host.mjs";
import { JavaScript } from "./javascript.mjs";
import { Masks, NO_MASKS, digestOf } from "./masks.mjs";
import { Stamps } from "./stamps.mjs";

/** @import { Surface } from "./host.mjs" */

export const FOLDER = fileURLToPath(new URL("../scripts", import.meta.url));

/**
 * @typedef {{ op: string, as?: string, store?: string, session?: string } & Record<string, any>} Step
 * @typedef {{ size?: number, sha256?: string, lines?: string, link?: string }} File
 * @typedef {{ answers: unknown[], files: Record<string, File> }} Record_
 * @typedef {Record_ & { whole: any[], came: Step[], texts: Map<string, string> }} ScriptRun `whole`: the answers in
 *   full; `came`: what others did between
 *   an operation's calls; `texts`: the masked files
 * @typedef {{ tries: string, start?: string, steps: Step[] } & Partial<Record_>} Script
 */

/** The folders that a script has; the other ones it makes. */
const GIVEN = ["home", "project", "outside", "user"];
/** So long is the path of the folder that all of them lie in: else sizes and places in files would differ by it. */
const PATH_LENGTH = 120;

/** The names of all scripts. */
export function names() {
  return readdirSync(FOLDER)
    .filter((name) => name.endsWith(".json"))
    .map((name) => name.slice(0, -5))
    .sort();
}

/** @param {string} name @returns {Script} */
export function scriptOf(name) {
  return JSON.parse(readFileSync(join(FOLDER, `${name}.json`), "utf8"));
}

/**
 * @param {Pick<Script, "steps" | "start">} script
 * @param {{ seed: string, made?: string, isMasked?: boolean, on?: (host: { root: string, stamps: Stamps }) => Surface }} options
 *   `seed`: what its chance is made of; `made`: a folder of this name is made for it, and nothing is masked unless
 * `isMasked`:
 *   with the same chance all is the same there; `on`: what is tried, JavaScript unless given
 * @returns {Promise<ScriptRun>}
 */
export async function runScript(
  { steps, start },
  { seed, made, isMasked = made === undefined, on = (host) => new JavaScript(host) },
) {
  // What is stored is counted by the vocabulary once it is loaded: it must not matter which scripts ran before.
  await countTokens("");
  const root = folder(made);
  const stamps = new Stamps(seed, start);
  const host = new Host(root, stamps, on);
  try {
    const masks = isMasked ? new Masks(root, stamps, host.joined) : NO_MASKS;
    const answers = [];
    for (const step of steps) {
      stamps.step();
      answers.push(await host.does(step));
    }
    await host.end();
    const whole = answers.map((answer) => masks.value(answer));
    return { answers: whole.map(digestOf), whole, came: host.came, ...filesIn(root, masks) };
  } finally {
    await host.end();
    rmSync(dirname(root), { recursive: true, force: true });
  }
}

/** @param {string} [name] */
function folder(name) {
  const made = name ?? realpathSync(mkdtempSync(join(tmpdir(), "leftoff-script-")));
  const missing = PATH_LENGTH - made.length - 1;
  if (missing < 1)
    throw new Error(
      `expected a folder for temporary files of at most ${PATH_LENGTH - 30} letters, but found "${made}" instead`,
    );
  const root = join(made, "x".repeat(missing));
  for (const name of GIVEN) mkdirSync(join(root, name), { recursive: true });
  return root;
}
