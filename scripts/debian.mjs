// @ts-check
// Builds Rust's standard library for WebAssembly from Debian's packages, for machines that cannot reach rustup's
// server. Debian's compiler comes with the source of its own library, of the same version.

import {
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ask, fail, run } from "./run.mjs";

const TARGET = "wasm32-unknown-unknown";
const PACKAGES = ["rustc-web", "cargo-web", "rust-web-src", "rust-web-llvm", "rust-web-clippy"];

/** Where Debian's compiler looks for the library. */
export const DEBIAN_LIB = `/usr/lib/rustlib/${TARGET}/lib`;

/** Installs packages of Debian's. Needs root. @param {string[]} packages */
export function installPackages(packages) {
  console.log(`  apt-get install ${packages.join(" ")}`);
  const apt = { quiet: true, env: { DEBIAN_FRONTEND: "noninteractive" } };
  const install = ["install", "-y", "--no-install-recommends", ...packages];
  // Old lists name files that the server no longer has.
  if (ask("apt-get", install, apt) === null) {
    run("apt-get", ["update"], apt);
    run("apt-get", install, apt);
  }
}

/** Installs Debian's compiler, makes it rustup's toolchain `debian`, and builds the library for it. Needs root. */
export function buildDebianTarget() {
  console.log(
    "  rustup cannot fetch the target here, so Debian's compiler is installed, and the library built from its source:",
  );
  installPackages(PACKAGES);
  const linker = rustupLinker();
  run("rustup", ["toolchain", "link", "debian", "/usr"], { quiet: true });
  linkLinker(linker);
  console.log(`  building the library into ${DEBIAN_LIB}`);
  const folder = mkdtempSync(join(tmpdir(), "leftoff-std-"));
  try {
    buildStd(folder, linker);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The linker of rustup's own toolchain: Debian's is a separate package that not every release has. */
function rustupLinker() {
  const host = ask("rustc", ["-vV"])?.match(/^host: (.*)$/m)?.[1];
  const linker = `${ask("rustc", ["--print", "sysroot"])}/lib/rustlib/${host}/bin/rust-lld`;
  return existsSync(linker)
    ? { host, path: linker }
    : fail(`expected a linker at ${linker}, but found none: reinstall Rust with rustup`);
}

/** @param {{ host?: string, path: string }} linker */
function linkLinker({ host, path }) {
  const bin = `/usr/lib/rustlib/${host}/bin`;
  const link = join(bin, "rust-lld");
  if (existsSync(link)) return;
  mkdirSync(bin, { recursive: true });
  if (lstatSync(link, { throwIfNoEntry: false })) rmSync(link);
  symlinkSync(path, link);
}

/** @param {string} folder an empty one @param {{ path: string }} linker */
function buildStd(folder, linker) {
  mkdirSync(join(folder, "src"));
  writeFileSync(
    join(folder, "Cargo.toml"),
    '[package]\nname = "empty"\nversion = "0.0.0"\nedition = "2021"\n\n[profile.release]\npanic = "abort"\n',
  );
  writeFileSync(join(folder, "src", "lib.rs"), "");
  run("cargo", ["build", "--release", "-Zbuild-std=std,panic_abort,test", "--target", TARGET], {
    cwd: folder,
    quiet: true,
    env: {
      RUSTUP_TOOLCHAIN: "debian",
      // The packaged compiler is stable, and refuses -Z without this.
      RUSTC_BOOTSTRAP: "1",
      // Without the bitcode a later build with LTO fails.
      RUSTFLAGS: "-Cembed-bitcode=yes",
      CARGO_TARGET_DIR: join(folder, "target"),
      CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER: linker.path,
    },
  });
  const made = join(folder, "target", TARGET, "release", "deps");
  // Written under another name first: if this is interrupted, the next run sees that the library is missing.
  const fresh = `${DEBIAN_LIB}.new`;
  rmSync(fresh, { recursive: true, force: true });
  mkdirSync(fresh, { recursive: true });
  for (const name of readdirSync(made)) {
    if (name.endsWith(".rlib") && !name.startsWith("libempty-")) copyFileSync(join(made, name), join(fresh, name));
  }
  rmSync(DEBIAN_LIB, { recursive: true, force: true });
  renameSync(fresh, DEBIAN_LIB);
}
