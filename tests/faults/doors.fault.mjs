// @ts-check
/**
 * Node and Rust append to one session at once, each through a host of its own: nothing is lost, and nothing is mixed.
 */
// Tries: js/storage/node.js, src/fs/disk/, src/operation/append.rs

import assert from "node:assert/strict";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { exampleOf } from "../../scripts/examples.mjs";
import { allIsThere, beginSession, loads } from "./shared-session.mjs";
import { scene } from "./tools.mjs";

const appender = fileURLToPath(new URL("appender.mjs", import.meta.url));
const OF_EACH = 4;

const LOADS = loads({ lines: 80_000, long: 400, blobs: 16 });

/** @type {import("../../scripts/faults.mjs").Fault} */
export default {
  title:
    "4 processes of Node and 4 of Rust append to one session at once, and each record is on disk, whole, in order and in the context",
  async run({ scaled, seed }) {
    const isWhole = scaled(1000) === 1000;
    const program = exampleOf("appender", { isFast: isWhole });
    /** @type {Record<string, number>} */
    const counts = {};
    for (const { name, whole, isContext, ...load } of LOADS) {
      const all = Math.max(2 * OF_EACH, scaled(whole));
      await scene("doors", async ({ folder, start }) => {
        const id = await beginSession(folder);
        const children = Array.from({ length: 2 * OF_EACH }, (_, writer) => {
          const count = Math.floor((all + writer) / (2 * OF_EACH));
          const plan = JSON.stringify({ seed: seed * 2 * OF_EACH + writer, writer, count, ...load });
          return writer % 2
            ? start(program, [folder, id, plan])
            : start(process.execPath, [appender, folder, id, plan]);
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
