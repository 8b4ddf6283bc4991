// @ts-check
// The lints: format, clippy for host and WebAssembly and each combination of features, types, and the fence.

import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { root, run, step } from "./run.mjs";
import { wasmEnv } from "./toolchain.mjs";

const strict = ["--", "-D", "warnings"];

await step("cargo fmt", () => void run("cargo", ["fmt", "--check"]));
await step("clippy, no features", () => void run("cargo", ["clippy", "--release", "--no-default-features", "--lib", ...strict]));
await step("clippy, default features, tests", () => void run("cargo", ["clippy", "--release", "--all-targets", ...strict]));
for (const features of ["wasm,tokens,interop", "component,interop"]) {
  await step(`clippy, ${features}`, () => {
    const env = { ...wasmEnv(), CARGO_TARGET_DIR: join(root, "target", "wasm") };
    run("cargo", ["clippy", "--release", "--lib", "--target", "wasm32-unknown-unknown", "--no-default-features", "--features", features, ...strict], { env });
  });
}
await step("tsc", () => void run("npx", ["tsc", "--project", "tsconfig.json"]));
await step("the fence", fence);

// The core compiles without the standard library; what a lint cannot see is that somebody names it again.
function fence() {
  const files = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".rs"));
  for (const name of files) {
    const [code] = readFileSync(join(root, "src", name), "utf8").split("#[cfg(test)]\nmod tests");
    if (/\bextern crate std\b|\bstd::/.test(code)) {
      console.error(`failed: src/${name} uses the standard library; the core has no I/O, no clock and no randomness`);
      process.exit(1);
    }
  }
}
