// @ts-check
// Builds the programs of examples/ and tests/programs for the tests that run them.

import { join } from "node:path";
import { root, run } from "./run.mjs";

/**
 * Builds a program and answers its path. All default members are built together, so that the library is the one that
 * `cargo test` made.
 * @param {string} name
 * @param {{ isFast?: boolean }} [options] `isFast`: optimized, which is worth a build of its own
 */
export function exampleOf(name, { isFast = false } = {}) {
  run("cargo", ["build", "--quiet", "--example", name, ...(isFast ? ["--release"] : [])], { quiet: true });
  return join(process.env.CARGO_TARGET_DIR ?? join(root, "target"), isFast ? "release" : "debug", "examples", name);
}
