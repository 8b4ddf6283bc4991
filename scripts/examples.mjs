// @ts-check
// The programs of examples/ and tests/programs, for what runs them.

import { join } from "node:path";
import { root, run } from "./run.mjs";

/**
 * Where such a program is, built just now. All that are default members are built together, so that the library is the one
 * that `cargo test` made.
 * @param {string} name
 * @param {{ isFast?: boolean }} [options] `isFast`: optimized, which is worth a build of its own
 */
export function exampleOf(name, { isFast = false } = {}) {
  run("cargo", ["build", "--quiet", "--example", name, ...(isFast ? ["--release"] : [])], { quiet: true });
  return join(process.env.CARGO_TARGET_DIR ?? join(root, "target"), isFast ? "release" : "debug", "examples", name);
}
