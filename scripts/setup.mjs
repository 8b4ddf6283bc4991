// @ts-check
// Sets up everything that the other scripts need: npm's packages, the toolchain, and pkg/. Leaves alone what is there
// already.

import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root, run, seconds, step } from "./run.mjs";
import * as toolchain from "./toolchain.mjs";
import { build } from "./build.mjs";

/** Installs npm's packages if they differ from the lock file. */
function packages() {
  const lock = readFileSync(join(root, "package-lock.json"), "utf8");
  const mark = join(root, "node_modules", ".leftoff-lock");
  if (existsSync(mark) && readFileSync(mark, "utf8") === lock) return false;
  // Not `npm ci`: it refuses a lock file that lacks packages for other platforms, and one made where the registry at
  // hand does not have them lacks them. Versions and hashes of the lock file hold all the same, and it is not written.
  // No package here needs its install script: deno and esbuild find their programs without.
  run("npm", ["install", "--no-save", "--ignore-scripts", "--no-audit", "--no-fund"], { quiet: true });
  writeFileSync(mark, lock);
}

const start = performance.now();
console.log("set-up");
await step("npm packages", packages);
await step("Rust's target wasm32-unknown-unknown", toolchain.target);
await step("wasm-bindgen", toolchain.bindgen);
// With --tools alone, for a caller that is about to build pkg/ in another way.
if (!process.argv.includes("--tools")) await step("pkg/", build);
console.log(`set-up done in ${seconds(start)}`);
