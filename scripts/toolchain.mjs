// @ts-check
// The Rust toolchain that compiles to WebAssembly, and the two programs that work on its output.

import { existsSync, mkdirSync, readFileSync, readdirSync, copyFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { ask, root, run } from "./run.mjs";

const TARGET = "wasm32-unknown-unknown";
const DEBIAN_LIB = `/usr/lib/rustlib/${TARGET}/lib`;
const WASM_PACK = "0.15.1";

/** Where programs are kept that several clones share. */
const tools = join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "leftoff-tools");

/** Where the answer of the last look is kept; deleting it costs one look. */
const remembered = join(root, "target", "wasm-toolchain.json");

/** The version of a crate in Cargo.lock. @param {string} name */
function locked(name) {
  const lock = readFileSync(join(root, "Cargo.lock"), "utf8");
  const version = lock.match(new RegExp(`name = "${name}"\\nversion = "([^"]+)"`))?.[1];
  if (!version) throw new Error(`Cargo.lock names no ${name}`);
  return version;
}

/** The environment in which cargo compiles to WebAssembly. @returns {Record<string, string>} */
export function wasmEnv() {
  const { toolchain, bin } = JSON.parse(readFileSync(remembered, "utf8"));
  const path = [bin.bindgen, bin.pack, join(root, "node_modules", ".bin"), process.env.PATH].join(":");
  return { ...(toolchain ? { RUSTUP_TOOLCHAIN: toolchain } : {}), PATH: path };
}

/** Whether the toolchain was found before and is still there. */
export function isThere() {
  if (!existsSync(remembered)) return false;
  const { lib, bin, bindgen } = JSON.parse(readFileSync(remembered, "utf8"));
  return bindgen === locked("wasm-bindgen") && hasCore(lib) && existsSync(bin.bindgen) && existsSync(bin.pack);
}

/** Finds the toolchain, or installs it. */
export function install() {
  if (ask("cargo", ["--version"]) === null) {
    fail("cargo was not found: install Rust with rustup, then run this again");
  }
  const target = findTarget() ?? addTarget() ?? buildDebianTarget();
  const bindgen = locked("wasm-bindgen");
  const bin = { bindgen: program("wasm-bindgen-cli", bindgen, "wasm-bindgen"), pack: program("wasm-pack", WASM_PACK, "wasm-pack") };
  mkdirSync(join(root, "target"), { recursive: true });
  writeFileSync(remembered, JSON.stringify({ ...target, bin, bindgen }));
}

/** @param {string} lib */
function hasCore(lib) {
  return existsSync(lib) && readdirSync(lib).some((name) => /^libcore-.*\.rlib$/.test(name));
}

/** @returns {{ toolchain: string | null, lib: string } | null} */
function findTarget() {
  const lib = ask("rustc", ["--print", "target-libdir", "--target", TARGET]);
  if (lib && hasCore(lib)) return { toolchain: null, lib };
  if (hasCore(DEBIAN_LIB) && ask("rustc", ["--version"], { env: { RUSTUP_TOOLCHAIN: "debian" } })) {
    return { toolchain: "debian", lib: DEBIAN_LIB };
  }
  return null;
}

function addTarget() {
  console.log("    rustup target add: the standard library for WebAssembly");
  ask("rustup", ["target", "add", TARGET], { timeoutMs: 120_000 });
  return findTarget();
}

/** Debian's compiler comes with the source of its standard library, so that the target can be built from it. */
function buildDebianTarget() {
  if (process.getuid?.() !== 0 || !ask("apt-get", ["--version"])) {
    fail(`the Rust target ${TARGET} is missing: run 'rustup target add ${TARGET}', then this again`);
  }
  const packages = ["rustc-web", "cargo-web", "rust-web-src", "rust-web-llvm", "rust-web-clippy"];
  console.log("    rustup has no such target within reach, so Debian's compiler is installed, and its library built:");
  console.log(`    apt-get install ${packages.join(" ")}`);
  run("apt-get", ["update"], { quiet: true });
  run("apt-get", ["install", "-y", "--no-install-recommends", ...packages], { quiet: true, env: { DEBIAN_FRONTEND: "noninteractive" } });
  run("rustup", ["toolchain", "link", "debian", "/usr"], { quiet: true });
  const sysroot = ask("rustc", ["--print", "sysroot"]);
  const linker = `${sysroot}/lib/rustlib/x86_64-unknown-linux-gnu/bin/rust-lld`;
  const build = join(tmpdir(), `leftoff-std-${process.pid}`);
  mkdirSync(join(build, "src"), { recursive: true });
  writeFileSync(join(build, "Cargo.toml"), '[package]\nname = "empty"\nversion = "0.0.0"\nedition = "2021"\n[profile.release]\npanic = "abort"\n');
  writeFileSync(join(build, "src", "lib.rs"), "");
  run("cargo", ["build", "--release", "-Zbuild-std=std,panic_abort", "--target", TARGET], {
    cwd: build,
    quiet: true,
    // Without the bitcode a later build with LTO fails.
    env: { RUSTUP_TOOLCHAIN: "debian", RUSTC_BOOTSTRAP: "1", RUSTFLAGS: "-Cembed-bitcode=yes", CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER: linker },
  });
  const made = join(build, "target", TARGET, "release", "deps");
  mkdirSync(DEBIAN_LIB, { recursive: true });
  for (const name of readdirSync(made)) {
    if (name.endsWith(".rlib") && !name.startsWith("libempty-")) copyFileSync(join(made, name), join(DEBIAN_LIB, name));
  }
  const bin = "/usr/lib/rustlib/x86_64-unknown-linux-gnu/bin";
  mkdirSync(bin, { recursive: true });
  if (!existsSync(join(bin, "rust-lld"))) symlinkSync(linker, join(bin, "rust-lld"));
  rmSync(build, { recursive: true, force: true });
  return findTarget() ?? fail("the library for WebAssembly was built, but rustc does not find it");
}

/**
 * The folder of a program at exactly this version, built where it is not there.
 * @param {string} crate
 * @param {string} version
 * @param {string} name
 */
function program(crate, version, name) {
  const home = join(tools, `${name}-${version}`);
  const bin = join(home, "bin");
  if (!existsSync(join(bin, name))) {
    console.log(`    cargo install ${crate} ${version}, into ${home}`);
    run("cargo", ["install", crate, "--version", version, "--root", home], { quiet: true });
  }
  return bin;
}

/** @param {string} why @returns {never} */
function fail(why) {
  console.error(`\nfailed: ${why}`);
  process.exit(1);
}
