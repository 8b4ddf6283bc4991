// @ts-check
// Checks everything that needs no running: the form of the Rust code, clippy for each target and combination of
// features, the types of the JavaScript, and the fence around the core.

import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { rustdoc } from "./docs.mjs";
import { formatRust, formatScripts } from "./format.mjs";
import { examples, floors, lengths, oneSpelling, checkSuitesNamed, testModules, withoutTests } from "./house.mjs";
import { names } from "./names.mjs";
import { ask, fail, root, run, step } from "./run.mjs";
import { TARGET, wasmEnv } from "./toolchain.mjs";

const DENY_WARNINGS = ["-D", "warnings"];
// Tests and examples read files and the clock, and a test that unwraps fails where it should.
const TEST_ALLOWANCES = ["disallowed-methods", "disallowed-types", "disallowed-macros", "unwrap-used"].flatMap(
  (name) => ["-A", `clippy::${name}`],
);
const HOST_FEATURES = { none: ["--no-default-features"], default: [], fs: ["--features", "fs"] };
/** Features checked each by itself: a program may want one and no other. */
const FEATURES = ["tokens", "o200k", "cl100k", "interop", "session-file", "fs"];
// Where files of js/ may ask for time and chance themselves, not js/wasm/clock.js, and why.
/** @type {Record<string, { found: string, why: string }>} */
const CLOCK_EXCEPTIONS = {
  "storage/root.js": {
    found: "Date.now",
    why: "compared with the filesystem's clock, to see whether a folder could have changed unseen",
  },
  "storage/whole-file.js": { found: "randomBytes", why: "the name of a file that is renamed before anybody looks" },
  "storage/link.js": { found: "randomBytes", why: "the same, of a link" },
};
/** The crates that compile the core to WebAssembly, with their arguments. @type {Record<string, string[]>} */
const WASM_CRATES = {
  "crates/wasm, core and tokens": ["--package", "leftoff-wasm", "--test", "wasm", "--features", "core,tokens"],
  "crates/wasm, core": ["--package", "leftoff-wasm", "--features", "core"],
  "crates/wasm, agents": ["--package", "leftoff-wasm", "--features", "agents"],
  "crates/wasm, context": ["--package", "leftoff-wasm", "--features", "context"],
  "crates/wasm, reader": ["--package", "leftoff-wasm", "--features", "reader"],
  "crates/wasm, turns": ["--package", "leftoff-wasm", "--features", "turns"],
  // It is compiled for its build anyway, in release.
  "crates/component": ["--package", "leftoff-component", "--release"],
};

/** Ends the process at the first thing that is wrong. */
export async function lint() {
  await step("cargo fmt --check", () => formatRust({ isCheck: true }));
  await step("prettier --check", () => formatScripts({ isCheck: true }));
  await step("the fence", fence);
  await step("names of documents", documents);
  await step("one spelling", oneSpelling);
  await step("one clock", oneClock);
  await step("floors", floors);
  await step("examples", examples);
  await step("lengths", lengths);
  await step("names and rooms", names);
  await step("suites that are told of", checkSuitesNamed);
  for (const [name, features] of Object.entries(HOST_FEATURES)) {
    await step(`clippy, features ${name}`, () => {
      clippy(["--lib", ...features], DENY_WARNINGS);
      clippy(["--all-targets", ...features], [...DENY_WARNINGS, ...TEST_ALLOWANCES]);
    });
  }
  await step("each feature alone", () => {
    for (const feature of FEATURES)
      run("cargo", [
        "check",
        "--quiet",
        "--package",
        "leftoff",
        "--lib",
        "--no-default-features",
        "--features",
        feature,
      ]);
  });
  await step("rustdoc", () => void rustdoc());
  await step("the oldest Rust", oldestRust);
  for (const [name, what] of Object.entries(WASM_CRATES)) await step(`clippy, ${name}`, () => clippyWasm(what));
  await step("tsc", () => void run("tsc", ["--project", "tsconfig.json"]));
}

/** @param {string[]} what @param {string[]} lints @param {Record<string, string>} [env] */
function clippy(what, lints, env) {
  run("cargo", ["clippy", "--quiet", ...what, "--", ...lints], { env });
}

/**
 * Checks with the oldest Rust that Cargo.toml names, where it is installed: `rustup toolchain install 1.88.0 --profile
 * minimal`.
 */
function oldestRust() {
  const oldest =
    readFileSync(join(root, "Cargo.toml"), "utf8").match(/^rust-version = "([^"]+)"$/m)?.[1] ??
    fail("expected a rust-version in Cargo.toml, but found none");
  const toolchain = ask("rustup", ["toolchain", "list"])?.match(new RegExp(`^${oldest}(?:\\.0)?-\\S+`, "m"))?.[0];
  if (!toolchain)
    return console.log(`  Rust ${oldest}, the oldest that leftoff compiles with, is not installed: not tried.`);
  const env = { RUSTUP_TOOLCHAIN: toolchain, CARGO_TARGET_DIR: join(root, "target", "oldest") };
  run("cargo", ["check", "--quiet", "--package", "leftoff", "--lib", "--features", "cl100k"], { env });
}

/** @param {string[]} what */
function clippyWasm(what) {
  /** @type {Record<string, string>} */
  // With RUSTC_BOOTSTRAP as in the builds, or crates that look at it are compiled again.
  const env = { ...wasmEnv(), CARGO_TARGET_DIR: join(root, "target", "wasm"), RUSTC_BOOTSTRAP: "1" };
  if (ask("cargo", ["clippy", "--version"], { env }) === null) {
    const how = env.RUSTUP_TOOLCHAIN === "debian" ? "apt-get install rust-web-clippy" : "rustup component add clippy";
    fail(`clippy is missing for the compiler that has ${TARGET}: '${how}' installs it`);
  }
  clippy(["--lib", ...what, "--target", TARGET], DENY_WARNINGS, env);
}

/** The files of the crate's own host for native programs, which may use std. */
const HOST_FILES = /^fs[/\\]/;
const STD_OF_HOST = '#[cfg(all(feature = "fs", unix))]\nextern crate std;\n';

/** Checks that the core and its bindings stay `no_std`: one `extern crate std` would open everything again. */
function fence() {
  for (const src of ["src", "crates/wasm/src", "crates/component/src"]) {
    const ofTests = testModules(join(root, src)).map((name) => `${name}.rs`);
    for (const name of readdirSync(join(root, src), { recursive: true, encoding: "utf8" })) {
      if (!name.endsWith(".rs") || ofTests.includes(name) || HOST_FILES.test(name)) continue;
      withoutTests(readFileSync(join(root, src, name), "utf8"))
        .replace(STD_OF_HOST, "\n\n")
        .split("\n")
        .forEach((line, index) => {
          const found = line.replace(/\/\/.*$/, "").match(/\bextern crate std\b|\bstd::/)?.[0];
          if (found)
            fail(`${src}/${name}, line ${index + 1}: expected a core without std, but found '${found}' instead`);
        });
    }
  }
}

/** Checks that time and chance come from one place, where tests set them: equal ones give equal bytes. */
function oneClock() {
  const asked =
    /\b(?:Date\.now|performance\.now|Math\.random|getRandomValues|getTimezoneOffset|hrtime|random(?:UUID|Bytes|Int|FillSync|Fill))\b|\bnew Date\b(?!\((?!\)))/g;
  const js = join(root, "js");
  for (const name of readdirSync(js, { recursive: true, encoding: "utf8" })) {
    if (!name.endsWith(".js") || name.replaceAll("\\", "/") === "wasm/clock.js") continue;
    readFileSync(join(js, name), "utf8")
      .split("\n")
      .forEach((line, index) => {
        for (const [found] of line.replace(/(?:^|\s)\/\/.*$/, "").matchAll(asked)) {
          if (found === CLOCK_EXCEPTIONS[name.replaceAll("\\", "/")]?.found || line.includes(`import { ${found} }`))
            continue;
          fail(
            `js/${name}, line ${index + 1}: expected js/wasm/clock.js to be asked for time and chance, but found '${found}' instead`,
          );
        }
      });
  }
}

/**
 * The places of prose, and the one page that explains the documents leftoff comes from: elsewhere their numbers say
 * nothing.
 */
const PROSE_FILES = [
  "src",
  "crates",
  "js",
  "docs",
  "tests",
  "scripts",
  "benches",
  "examples",
  "README.md",
  "ARCHITECTURE.md",
  "CHANGELOG.md",
  "CONTRIBUTING.md",
];
const ORIGINS = join("docs", "ORIGINS.md");

function documents() {
  for (const place of PROSE_FILES.filter((one) => existsSync(join(root, one)))) {
    const isFile = place.endsWith(".md");
    for (const name of isFile ? [""] : readdirSync(join(root, place), { recursive: true, encoding: "utf8" })) {
      const path = join(place, name);
      // Fixtures are others' words, and docs/api is made of what was looked at.
      if (!/\.(?:rs|m?js|ts|wit|md)$/.test(path) || path === ORIGINS || /^(?:fixtures|api)\b/.test(name)) continue;
      const text = readFileSync(join(root, path), "utf8");
      // Also over the end of a line, with the mark of a comment between.
      const found = /\bdocuments?[\s/*!#]+00[0-4]\b|\b00[0-4]'s\b/i.exec(text);
      if (found)
        fail(
          `${path}, line ${text.slice(0, found.index).split("\n").length}: expected a name that says what it is, but found "${found[0]}", which only ${ORIGINS} explains`,
        );
    }
  }
}

if (import.meta.main ?? process.argv[1] === import.meta.filename) await lint();
