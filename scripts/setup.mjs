// @ts-check
// Everything that the other scripts need: npm's packages, the toolchain, and pkg/. What is there already is left alone.

import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root, run, step } from "./run.mjs";
import * as toolchain from "./toolchain.mjs";
import { build } from "./build.mjs";

console.log("set-up");
await step("npm packages", () => {
  const lock = readFileSync(join(root, "package-lock.json"), "utf8");
  const mark = join(root, "node_modules", ".leftoff-lock");
  if (existsSync(mark) && readFileSync(mark, "utf8") === lock) return false;
  // Not `npm ci`, which refuses a lock file that leaves out other platforms' optional packages.
  run("npm", ["install", "--no-save", "--ignore-scripts", "--no-audit", "--no-fund"], { quiet: true });
  writeFileSync(mark, lock);
});
await step("Rust for WebAssembly, wasm-bindgen, wasm-pack", () => {
  if (toolchain.isThere()) return false;
  toolchain.install();
});
await step("pkg", build);
