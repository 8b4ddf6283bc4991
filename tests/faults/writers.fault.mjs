// @ts-check
/** Several processes append to one session at once, in Node, Deno and Bun: nothing is lost, and nothing is mixed. */
// Tries: js/storage/open-file.js, src/operation/append.rs

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { root } from "../../scripts/run.mjs";
import { scene } from "./tools.mjs";
import { allIsThere, beginSession, loads } from "./shared-session.mjs";

const appender = fileURLToPath(new URL("appender.mjs", import.meta.url));
const WRITERS = 8;

const LOADS = loads({ lines: 80_000, long: 1600, blobs: 40 });

/** @type {import("../../scripts/faults.mjs").Fault} */
export default {
  title: "8 processes append to one session at once, and each record is on disk, whole, in order and in the context",
  async run({ scaled, seed }) {
    const found = programs();
    const runtimes = Object.keys(found);
    /** @type {Record<string, number | string>} */
    const counts = { in: runtimes.join(" ") };
    const absent = ["deno", "bun"].filter((name) => !runtimes.includes(name));
    if (absent.length > 0) counts.SKIPPED = absent.join(" ");
    for (const { name, whole, isContext, ...load } of LOADS) {
      const all = scaled(whole);
      await scene("writers", async ({ folder, start }) => {
        const id = await beginSession(folder);
        const children = Array.from({ length: Math.min(WRITERS, all) }, (_, writer) => {
          const count = Math.floor((all + writer) / WRITERS) || 1;
          const plan = { seed: seed * WRITERS + writer, writer, count, ...load };
          const [program = "", ...flags] = found[runtimes[writer % runtimes.length] ?? ""] ?? [];
          return start(program, [...flags, appender, folder, id, JSON.stringify(plan)]);
        });
        for (const { ended } of children) {
          const { code, stderr } = await ended;
          assert.equal(code, 0, stderr);
        }
        const written = children.map(({ said }) => said.filter((one) => Array.isArray(one)).flat());
        counts[name] = await allIsThere({ home: folder, id, written, isContext });
        assert.equal(counts[name], all);
      });
    }
    return counts;
  },
};

/** The command of each runtime that starts here. @returns {Record<string, string[]>} */
function programs() {
  const denoFlags = ["run", "--allow-all", "--no-lock", "--no-config", "--node-modules-dir=none", "--cached-only"];
  const commands = [
    ["node", process.execPath],
    ...packagesOfScope("@deno").map((path) => ["deno", join(path, "deno"), ...denoFlags]),
    ...packagesOfScope("@oven").map((path) => ["bun", join(path, "bin", "bun")]),
  ];
  const starting = commands.filter(([, program = ""]) => spawnSync(program, ["--version"]).status === 0);
  return Object.fromEntries(starting.map(([name, ...command]) => [name, command]));
}

/**
 * The packages of one platform each. What `npm` links as command starts such a program as a child of its own, which
 * would outlive a kill.
 * @param {string} scope
 */
function packagesOfScope(scope) {
  const folder = join(root, "node_modules", scope);
  return existsSync(folder) ? readdirSync(folder).map((name) => join(folder, name)) : [];
}
