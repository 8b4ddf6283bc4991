// @ts-check
// The Rust toolchain that compiles to WebAssembly, and the programs that work on its output.

import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { buildDebianTarget, DEBIAN_LIB } from "./debian.mjs";
import { ask, fail, root, run } from "./run.mjs";

export const TARGET = "wasm32-unknown-unknown";
/** Compiles the standard library along: the installed one panics another way, and is made for speed alone. */
export const BUILD_STD = "-Zbuild-std=std,panic_abort";
const WASM_PACK = "0.15.1";
const CARGO_FUZZ = "0.13.2";
/** The component's host in Rust, a project of its own. */
const RUST_HOST_FOLDER = join(root, "tests", "component", "rust");
/** The version of wasmtime, from PyPI for Python, and for Rust: one compiles the component that the other loads. */
const WASMTIME = lockedVersion("wasmtime", join(RUST_HOST_FOLDER, "Cargo.lock"));

/** The folder of programs that several clones share. */
const shared = join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "leftoff-tools");

/** The file that remembers what was found, so that the next run need not look. Deleting it costs one look. */
const remembered = join(root, "target", "wasm-toolchain.json");

/**
 * @typedef {{ toolchain: string | null, lib: string }} Target the rustup toolchain, null for the default one, and its
 *   library
 * @typedef {{ target?: Target, bin?: Record<string, string> }} FoundTools `bin`: the folder of each program, by name
 *   and version
 */

/** @returns {FoundTools} */
function readRemembered() {
  return existsSync(remembered) ? JSON.parse(readFileSync(remembered, "utf8")) : {};
}

/** @param {FoundTools} found */
function writeRemembered(found) {
  mkdirSync(dirname(remembered), { recursive: true });
  writeFileSync(remembered, JSON.stringify({ ...readRemembered(), ...found }));
}

/** The crate of the binding program, and a cache key that changes with it. */
const BINDGEN_FOLDER = join(root, "scripts", "bindgen");
const bindgenKey = `bindgen-${createHash("sha256")
  .update(
    ["Cargo.toml", "Cargo.lock", "src/main.rs"]
      .map((name) => readFileSync(join(BINDGEN_FOLDER, name), "utf8"))
      .join(""),
  )
  .digest("hex")
  .slice(0, 16)}`;

/** The environment in which cargo compiles to WebAssembly. @returns {Record<string, string>} */
export function wasmEnv() {
  const { target, bin = {} } = readRemembered();
  if (!target) fail("the set-up is missing: run 'npm run setup'");
  const path = [...Object.values(bin), process.env.PATH].join(delimiter);
  return { ...(target.toolchain ? { RUSTUP_TOOLCHAIN: target.toolchain } : {}), PATH: path };
}

/** Finds the target, or installs it; answers false where it was found before. */
export function target() {
  const { target } = readRemembered();
  if (target && isWhole(target.lib)) return false;
  if (ask("cargo", ["--version"]) === null) {
    const why =
      ask("rustup", ["--version"]) === null
        ? "cargo was not found: install Rust with rustup (https://rustup.rs)"
        : "rustup has no toolchain here: run 'rustup default stable', or set RUSTUP_HOME to where the toolchains are";
    fail(`${why}, then run this again`);
  }
  const found = findTarget() ?? addTarget() ?? debianTarget();
  const env = { RUSTC_BOOTSTRAP: "1", ...(found.toolchain ? { RUSTUP_TOOLCHAIN: found.toolchain } : {}) };
  if (ask("rustc", ["-Zunstable-options", "-Cpanic=immediate-abort", "--print", "cfg"], { env }) === null) {
    fail(
      `expected a Rust that knows panic=immediate-abort, but found ${ask("rustc", ["--version"], { env })} instead: run 'rustup update', then run this again`,
    );
  }
  writeRemembered({ target: found });
}

/** Whether a library is there, with the crate that only tests need, and its source, beside it. @param {string} lib */
function isWhole(lib) {
  const source = join(lib, "..", "..", "src", "rust", "library", "Cargo.lock");
  return (
    [lib, source].every((path) => existsSync(path)) &&
    ["libcore-", "libtest-"].every((crate) => readdirSync(lib).some((name) => name.startsWith(crate)))
  );
}

/** @returns {Target | null} */
function findTarget() {
  const lib = ask("rustc", ["--print", "target-libdir", "--target", TARGET]);
  if (lib && isWhole(lib)) return { toolchain: null, lib };
  if (isWhole(DEBIAN_LIB) && ask("rustc", ["--version"], { env: { RUSTUP_TOOLCHAIN: "debian" } })) {
    return { toolchain: "debian", lib: DEBIAN_LIB };
  }
  return null;
}

function addTarget() {
  console.log(
    `  rustup target add ${TARGET}, rustup component add rust-src: Rust's standard library for WebAssembly, and its source`,
  );
  for (const args of [
    ["target", "add", TARGET],
    ["component", "add", "rust-src"],
  ])
    ask("rustup", args, { timeoutMs: 90_000 });
  return findTarget();
}

function debianTarget() {
  if (process.getuid?.() !== 0 || !existsSync("/etc/debian_version")) {
    fail(
      `'rustup target add ${TARGET}' or 'rustup component add rust-src' did not work: see why by running it yourself, then run this again`,
    );
  }
  buildDebianTarget();
  return findTarget() ?? fail("the standard library for WebAssembly was built, but rustc does not find it");
}

/** Builds the binding program unless this version of it is there; answers false if it is. */
export function bindgen() {
  const home = join(shared, bindgenKey);
  const bin = { [bindgenKey]: join(home, "bin") };
  const did = !existsSync(join(home, "bin", "leftoff-bindgen"));
  // Not optimized: it runs for a second, and optimizing it takes a minute.
  if (did)
    run("cargo", ["install", "--path", BINDGEN_FOLDER, "--locked", "--root", home], {
      quiet: true,
      env: { CARGO_TARGET_DIR: join(root, "target", "tools") },
    });
  if (did || !readRemembered().bin?.[bindgenKey]) writeRemembered({ bin });
  return did;
}

/**
 * The environment in which wasm-pack runs: found, or built from source, which takes minutes, when `build:dev` or
 * `test:wasm` first asks for it.
 */
export function wasmPackEnv() {
  const { PATH, ...env } = wasmEnv();
  const folders = Object.entries({ "wasm-pack": WASM_PACK, "wasm-bindgen": lockedVersion("wasm-bindgen") }).map(
    ([name, version]) =>
      onPath(name, version) ?? inCache(name, name === "wasm-bindgen" ? "wasm-bindgen-cli" : name, version),
  );
  return { ...env, PATH: [...folders, PATH].join(delimiter) };
}

const pythonHome = join(root, "target", `python-wasmtime-${WASMTIME}`);
/** Python with wasmtime, where it could be installed. */
export const PYTHON = join(pythonHome, "bin", "python");

/**
 * Installs wasmtime for Python in a folder of its own; answers false where it is there. Without Python or its registry
 * it says so.
 */
export function python() {
  if (ask(PYTHON, ["-c", "import wasmtime"]) !== null) return false;
  const install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", `wasmtime==${WASMTIME}`];
  const isThere =
    ask("python3", ["-m", "venv", pythonHome], { timeoutMs: 90_000 }) !== null &&
    ask(PYTHON, install, { timeoutMs: 180_000 }) !== null;
  if (!isThere)
    console.log(
      `  the component is not tried in Python: 'python3 -m venv' or 'pip install wasmtime==${WASMTIME}' did not work`,
    );
}

/**
 * A Python with these packages and no others, in a folder of its own; `null` where it cannot be installed.
 * @param {string} name
 * @param {string[]} packages pip's arguments, each package with its version
 */
export function pythonWith(name, packages) {
  const folder = join(root, "target", `python-${name}`);
  const program = join(folder, "bin", "python");
  const mark = join(folder, ".leftoff-packages");
  const wanted = packages.join("\n");
  if (existsSync(mark) && readFileSync(mark, "utf8") === wanted) return program;
  const install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", ...packages];
  const isThere =
    ask("python3", ["-m", "venv", "--clear", folder], { timeoutMs: 90_000 }) !== null &&
    ask(program, install, { timeoutMs: 180_000 }) !== null;
  if (!isThere) return null;
  writeFileSync(mark, wanted);
  return program;
}

const hostTarget = join(root, "target", "component-host");
/** The component's host in Rust, where it could be compiled. */
export const RUST_HOST = join(hostTarget, "debug", "leftoff-component-host");

/**
 * Compiles the component's host in Rust. With an older Rust than wasmtime wants, or without Python, which compiles the
 * component for it, it says so.
 */
export function rustHost() {
  const wanted =
    readFileSync(join(RUST_HOST_FOLDER, "Cargo.toml"), "utf8").match(/^rust-version = "1\.(\d+)"$/m)?.[1] ??
    fail(`${RUST_HOST_FOLDER}/Cargo.toml names no rust-version`);
  const found = ask("rustc", ["--version"])?.match(/^rustc 1\.(\d+)/)?.[1];
  if (!existsSync(PYTHON) || Number(found) < Number(wanted))
    return console.log(`  the component is not tried in Rust: that takes Rust 1.${wanted}, and wasmtime for Python`);
  run("cargo", ["build", "--quiet", "--locked", "--manifest-path", join(RUST_HOST_FOLDER, "Cargo.toml")], {
    env: { CARGO_TARGET_DIR: hostTarget },
  });
}

/** The version of a crate in a lock file. @param {string} name @param {string} [file] */
function lockedVersion(name, file = join(root, "Cargo.lock")) {
  const lock = readFileSync(file, "utf8");
  return lock.match(new RegExp(`name = "${name}"\\nversion = "([^"]+)"`))?.[1] ?? fail(`${file} names no ${name}`);
}

/** Finds cargo-fuzz, or builds it; answers the folder that it lies in. */
export function cargoFuzz() {
  return onPath("cargo-fuzz", CARGO_FUZZ) ?? inCache("cargo-fuzz", "cargo-fuzz", CARGO_FUZZ);
}

/** @param {string} name @param {string} version */
function onPath(name, version) {
  for (const folder of (process.env.PATH ?? "").split(delimiter)) {
    const file = join(folder, name);
    if (existsSync(file)) return ask(file, ["--version"])?.split(" ").at(1) === version ? folder : null;
  }
  return null;
}

/** @param {string} name @param {string} crate @param {string} version */
function inCache(name, crate, version) {
  const home = join(shared, `${name}-${version}`);
  const bin = join(home, "bin");
  if (!existsSync(join(bin, name))) {
    console.log(`  cargo install ${crate} ${version}, into ${home}`);
    // They run for a second or two, and take minutes to build when optimized. One target folder lets them share crates.
    const env = {
      CARGO_TARGET_DIR: join(root, "target", "tools"),
      CARGO_PROFILE_RELEASE_OPT_LEVEL: "1",
      CARGO_PROFILE_RELEASE_LTO: "off",
      CARGO_PROFILE_RELEASE_CODEGEN_UNITS: "16",
    };
    run("cargo", ["install", crate, "--version", version, "--root", home], { quiet: true, env });
  }
  return bin;
}
