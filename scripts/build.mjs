// @ts-check
// pkg/, as it ships: the core with LTO, its bindings, the vocabulary, the bundles; and types/.

import { createHash } from "node:crypto";
import { copyFileSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root, run } from "./run.mjs";
import { wasmEnv } from "./toolchain.mjs";

const TARGET = "wasm32-unknown-unknown";
const pkg = join(root, "pkg");

/** Builds what is out of date; answers false where nothing was. */
export async function build() {
  const core = built("core", ["src", "Cargo.toml", "Cargo.lock"], buildCore);
  const shim = await built("shim", ["js", "package.json", "tsconfig.json", "pkg/leftoff.js"], buildShim);
  return (await core) || shim;
}

/**
 * The core as a WebAssembly module, with LTO and optimised.
 * @param {string} features
 * @param {string} out the file without its ending
 * @param {string} folder
 */
export function compile(features, out, folder) {
  const env = { ...wasmEnv(), CARGO_TARGET_DIR: join(root, "target", "wasm") };
  run("cargo", ["rustc", "--release", "--lib", "--crate-type", "cdylib", "--target", TARGET, "--no-default-features", "--features", features], { env, quiet: true });
  const module = join(root, "target", "wasm", TARGET, "release", "leftoff.wasm");
  run("wasm-bindgen", ["--target", "web", "--out-dir", folder, "--out-name", out, module], { env, quiet: true });
  const made = join(folder, `${out}_bg.wasm`);
  run("wasm-opt", ["-O3", "--enable-bulk-memory", "--enable-nontrapping-float-to-int", "--enable-sign-ext", "--enable-mutable-globals", "--enable-reference-types", "--enable-multivalue", made, "-o", join(folder, `${out}.wasm`)], { env, quiet: true });
  rmSync(made);
}

function buildCore() {
  mkdirSync(pkg, { recursive: true });
  compile("wasm,tokens,interop", "leftoff", pkg);
  copyFileSync(join(root, "src", "tokens", "o200k_base.planes"), join(pkg, "o200k_base.planes"));
}

async function buildShim() {
  const { build: bundle } = await import("esbuild");
  /** @type {import("esbuild").BuildOptions} */
  const shared = { bundle: true, platform: "node", target: "node20", legalComments: "inline", logLevel: "error", absWorkingDir: root };
  const here = { js: "const import_meta_url = require('node:url').pathToFileURL(__filename).href;" };
  await bundle({ ...shared, entryPoints: ["js/index.js"], outfile: "pkg/index.cjs", format: "cjs", define: { "import.meta.url": "import_meta_url" }, banner: here });
  await bundle({ ...shared, entryPoints: ["js/cli/index.js"], outfile: "pkg/cli.js", format: "esm" });
  rmSync(join(root, "types"), { recursive: true, force: true });
  run("npx", ["tsc", "--project", "tsconfig.json", "--noEmit", "false"], { quiet: true });
}

/**
 * Runs a build where its inputs changed since it last ran.
 * @param {string} name
 * @param {string[]} inputs
 * @param {() => void | Promise<void>} work
 */
async function built(name, inputs, work) {
  const stamp = join(root, "target", `built-${name}`);
  const hash = digest(inputs);
  if (existsSync(pkg) && existsSync(stamp) && readFileSync(stamp, "utf8") === hash) return false;
  await work();
  writeFileSync(stamp, hash);
  return true;
}

/** @param {string[]} inputs */
function digest(inputs) {
  const hash = createHash("sha256");
  /** @param {string} path */
  const add = (path) => {
    const full = join(root, path);
    if (!existsSync(full)) return;
    if (statSync(full).isDirectory()) {
      for (const name of readdirSync(full).sort()) add(`${path}/${name}`);
    } else {
      hash.update(`${path}\0`).update(readFileSync(full));
    }
  };
  for (const input of inputs) add(input);
  return hash.digest("hex");
}
