#!/usr/bin/env node
// @ts-check
/** Where the command line begins: it loads no more than is run. */

import * as modules from "node:module";

const [command, first, ...others] = process.argv.slice(2);
// Node 22.8 and later keep what V8 compiled; others compile it at each start.
modules.enableCompileCache?.();
if (!(await isDone())) await import("./index.js");

/** Runs what needs no command line; answers whether that is all. */
async function isDone() {
  if (command !== "hook") return false;
  const { RECORDER_WORD, handOver } = await import("./hooks/front.js");
  if (first !== RECORDER_WORD) return handOver(process.argv.slice(3), new URL("./turns.wasm", import.meta.url));
  const [home = "", key = ""] = others;
  await (await import("./hooks/recorder.js")).recordQueued(home, key);
  return true;
}
