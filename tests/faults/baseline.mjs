// @ts-check
/**
 * What others use for the same, as its documentation says: `append` lines of 1 MB with `fs.promises.appendFile`,
 * `replace` a document with write-file-atomic, `lock` with proper-lockfile. Says what came of each, as JSON.
 */

import { writeSync } from "node:fs";
import fs from "node:fs/promises";
import { createRequire } from "node:module";
import process from "node:process";
import { createInterface } from "node:readline";
import { chance } from "./tools.mjs";

const modules = createRequire(import.meta.url);
const LINE = 1_000_000;
/** The least that proper-lockfile takes. */
const STALE_MS = 2000;

/** @param {unknown} what */
function say(what) {
  writeSync(1, `${JSON.stringify(what)}\n`);
}

/** @param {string} path @param {string} writer @param {number} count */
async function append(path, writer, count) {
  for (let n = 0; n < count; n += 1) {
    await fs.appendFile(path, `${writer.repeat(LINE)}\n`);
    say(n);
  }
}

/** @param {string} path @param {number} seed @param {number} max the largest document, in bytes */
async function replace(path, seed, max) {
  const writeFileAtomic = modules("write-file-atomic");
  const random = chance(seed);
  let old = "[]";
  await fs.writeFile(path, old);
  for (let n = 0; n < 20; n += 1) {
    const fresh = JSON.stringify([n, "x".repeat(random.below(max))]);
    const error = await writeFileAtomic(path, fresh).then(
      () => null,
      (/** @type {Error} */ error) => error,
    );
    const found = await fs.readFile(path, "utf8");
    say({
      isWhole: found === (error ? old : fresh),
      isRefused: error !== null,
      isNamed: error?.message.includes(path),
    });
    old = found;
  }
}

/** For each path that it is told, whether the lock of it was had. It is held until the next one. */
async function lock() {
  const lockfile = modules("proper-lockfile");
  // That a lock was lost is told seconds later; until then its holder believes in it.
  const options = { stale: STALE_MS, retries: 0, realpath: false, onCompromised: () => {} };
  say("ready");
  for await (const path of createInterface({ input: process.stdin })) {
    if (path === "end") break;
    say(
      await lockfile.lock(path, options).then(
        () => true,
        () => false,
      ),
    );
  }
  process.exit();
}

const [what, path = "", first = "", second = ""] = process.argv.slice(2);
if (what === "append") await append(path, first, Number(second));
if (what === "replace") await replace(path, Number(first), Number(second));
if (what === "lock") await lock();
