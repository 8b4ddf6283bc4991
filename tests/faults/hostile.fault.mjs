// @ts-check
/** Ids that are paths, links in every place of a store, and links put there while it is at work. */
// Tries: js/storage/root.js, src/record/id.rs, src/layout/

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { IN_MEMORY, furnish, snapshot } from "./hostile-home.mjs";
import { CAN_HOLD, attempts } from "./intruder.mjs";
import { scene } from "./tools.mjs";

/** @import { Start } from "./tools.mjs" */
/** @import { Scenery } from "./hostile-home.mjs" */

const intruder = fileURLToPath(new URL("intruder.mjs", import.meta.url));
const WHOLE = 10_000;
const TRACED = 500;

/** @type {import("../../scripts/faults.mjs").Fault} */
export default {
  title: "no id and no link, also one put there meanwhile, makes a store read or write a byte outside its home",
  async run({ scaled, seed }) {
    if (process.platform === "win32") return { skipped: "links need a privilege on Windows" };
    return scene(
      "hostile",
      async ({ folder, start }) => {
        const scenery = await furnish(folder);
        const before = snapshot(scenery.outside);
        const after = (/** @type {string} */ what) => assert.equal(snapshot(scenery.outside), before, what);
        /** @type {Record<string, number | string>} */
        const counts = {
          attempts: scaled(WHOLE),
          ...(CAN_HOLD ? {} : { SKIPPED: "swaps, which need /proc" }),
          ...(await attempts({ folder, scenery, seed, from: 0, to: scaled(WHOLE), start, after })),
        };
        if (spawnSync("strace", ["-f", "-o", "/dev/null", "true"]).status !== 0) {
          return { ...counts, "SKIPPED, strace does not work here": scaled(TRACED) };
        }
        assert.ok(counts.outside_store, "no attempt was refused");
        const calls = await traceAttempts({ folder, scenery, seed, count: scaled(TRACED), start });
        after("traced");
        return { ...counts, traced: scaled(TRACED), "system calls": calls };
      },
      IN_MEMORY,
    );
  },
};

/**
 * Attempts in a process whose calls are seen.
 * @param {{ folder: string, scenery: Scenery, seed: number, count: number, start: Start }} options
 */
async function traceAttempts({ folder, scenery, seed, count, start }) {
  const trace = join(folder, "trace");
  writeFileSync(join(folder, "scenery.json"), JSON.stringify(scenery));
  const plan = JSON.stringify({ seed, from: WHOLE, to: WHOLE + count });
  // With -y each descriptor is shown with where it leads to, whatever path it was opened by.
  const strace = [
    "-f",
    "-qq",
    "-y",
    "-s",
    "0",
    "-o",
    trace,
    "-e",
    "trace=file,desc",
    process.execPath,
    intruder,
    folder,
    plan,
  ];
  const { code, stderr } = await start("strace", strace, { UV_USE_IO_URING: "0" }).ended;
  assert.equal(code, 0, stderr);
  const lines = readFileSync(trace, "utf8").split("\n");
  const opened = lines.find((line) => line.includes(`<${scenery.outside}`));
  assert.equal(opened, undefined, "a descriptor of what lies outside");
  assert.ok(
    lines.some((line) => line.includes(`/messages.jsonl>`)),
    "the trace shows no file of a store",
  );
  return lines.length;
}
