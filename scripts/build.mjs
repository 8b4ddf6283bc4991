// @ts-check
// Builds pkg/ and types/ as they ship: the core with LTO, its binding, the vocabulary, the bundles, the types; each
// only if one of its inputs changed. `node scripts/build.mjs [core|shim|component|dev]` builds one part alone.

import { createHash } from "node:crypto";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { runQuietly, fail, root, run, step } from "./run.mjs";
import { BUILD_STD, TARGET, wasmEnv, wasmPackEnv } from "./toolchain.mjs";

const pkg = join(root, "pkg");
const crate = ["src", "crates", "Cargo.toml", "Cargo.lock", "scripts/build.mjs"];
/**
 * The modules for JavaScript, with their features of crates/wasm: programs that import nothing load no reader of
 * foreign files. For what needs no store, pages load `context` and `reader`, small parts of the two large ones; hooks
 * load `turns`.
 */
export const MODULES = {
  leftoff: "core,tokens",
  agents: "agents",
  context: "context",
  reader: "reader",
  turns: "turns",
};
const bindings = Object.keys(MODULES).flatMap((name) => [`pkg/${name}.js`, `pkg/${name}.d.ts`]);
const shim = [
  "js",
  "package.json",
  "tsconfig.json",
  "scripts/types.json",
  "scripts/build.mjs",
  "scripts/bundles.mjs",
  "scripts/viewer.mjs",
  "scripts/licenses.mjs",
  "Cargo.lock",
  ...bindings,
  ...Object.keys(MODULES).map((name) => `pkg/${name}.wasm`),
];

/** The features that rustc emits by itself; wasm-opt would refuse them otherwise. */
const WASM_FEATURES = [
  "bulk-memory",
  "multivalue",
  "mutable-globals",
  "nontrapping-float-to-int",
  "reference-types",
  "sign-ext",
  "simd",
];
/**
 * Every engine has SIMD since 2023: bytes are searched and counted sixteen at a time. A panic traps at once, without a
 * message: nobody would see it, since the target has no stderr, and the code for it, with a library made for speed, was
 * 20 KB when the core had 240. For that Rust's library is compiled along (`-Zbuild-std`, which a stable compiler does
 * by `RUSTC_BOOTSTRAP`).
 */
const RUSTFLAGS = "-Ctarget-feature=+simd128 -Zunstable-options -Cpanic=immediate-abort";
/**
 * Inlines nothing with many callers unless it is tiny, even where its author asks for that: a tenth less, and no
 * slower. The loops of counting say themselves what has to be inlined, by `inline(always)`.
 */
const INLINE_FLAGS = "-Cllvm-args=--inline-threshold=5 -Cllvm-args=--inlinehint-threshold=20";
/** Keeps a function with one caller a function of its own: inlined, it compresses worse and is no faster. */
const SINGLE_CALLER_FLAG = "--one-caller-inline-max-function-size=0";
/** Puts functions of one kind beside each other, which compresses better: a hundredth less. */
const ORDER_FLAG = "--reorder-functions-by-name";

/**
 * The two ways to compile a module: the core for size, since a page loads it, and the size gate holds it; the reader of
 * other agents' files for speed, since it reads gigabytes. With `opt-level = "z"` the core was 20 KB smaller, and took
 * half as long again.
 */
const BUILD_FLAGS = {
  size: {
    folder: "wasm",
    level: "s",
    flags: `${RUSTFLAGS} ${INLINE_FLAGS}`,
    std: "-Zbuild-std-features=optimize_for_size",
    wasmOpt: ["-Oz", SINGLE_CALLER_FLAG, ORDER_FLAG],
  },
  speed: { folder: "wasm-fast", level: "3", flags: RUSTFLAGS, std: "-Zbuild-std-features=", wasmOpt: ["-O2"] },
};

/** The package's entries: the files of js/ whose types callers see. */
const ENTRIES = ["index.js", "compat/index.js", "storage/memory.js", "storage/node.js"];
/** Those that only `import` loads. */
const MODULE_ENTRIES = [
  "ai/index.js",
  "claude/index.js",
  "html/index.js",
  "langchain/index.js",
  "openai/index.js",
  "opencode/index.js",
  "storage/opfs.js",
  "viewer/index.js",
];

/** The component's transpiled form for Node, by which tests run it. */
const componentFolder = join(root, "target", "component");

/** Builds what is out of date; answers false if nothing was. */
export async function build() {
  const core = await whenStale("core", pkg, buildCore, Object.keys(MODULES));
  return (
    (await fresh(
      "shim",
      shim,
      [
        join(pkg, "index.mjs"),
        join(pkg, "web"),
        join(pkg, "LICENSES.txt"),
        join(pkg, "shipped.json"),
        join(root, "types"),
      ],
      buildShim,
    )) || core
  );
}

/** Builds the component, and by jco its form for Node; answers false if both are up to date. */
export function buildComponent() {
  const component = join(pkg, "leftoff.component.wasm");
  return fresh("component", crate, [component, join(componentFolder, "leftoff.js")], async () => {
    rmSync(componentFolder, { recursive: true, force: true });
    mkdirSync(componentFolder, { recursive: true });
    mkdirSync(pkg, { recursive: true });
    run("jco", ["new", await compile("leftoff-component", ""), "-o", component], { quiet: true });
    run("jco", ["transpile", component, "--name", "leftoff", "-o", componentFolder], { quiet: true });
    writeFileSync(join(componentFolder, "package.json"), '{ "type": "module" }\n');
  });
}

/**
 * Builds the core in one of its forms, if the crate changed or one of the modules is missing in `folder`.
 * @param {string} name
 * @param {string} folder
 * @param {() => void | Promise<void>} work
 * @param {string[]} modules
 */
export function whenStale(name, folder, work, modules = ["leftoff"]) {
  return fresh(
    name,
    crate,
    modules.flatMap((module) => [join(folder, `${module}.wasm`), join(folder, `${module}.js`)]),
    work,
  );
}

/**
 * Builds a module for JavaScript: `leftoff.wasm`, `leftoff.js` and `leftoff.d.ts` in `folder`, or of another name.
 * @param {string} features
 * @param {string} folder
 * @param {string} [name]
 */
export async function bind(features, folder, name = "leftoff") {
  const made = name === "agents" ? BUILD_FLAGS.speed : BUILD_FLAGS.size;
  mkdirSync(folder, { recursive: true });
  const env = wasmEnv();
  await runQuietly("leftoff-bindgen", [await compile("leftoff-wasm", features, made), folder, name], { env });
  const bound = join(folder, `${name}_bg.wasm`);
  const enabled = WASM_FEATURES.map((feature) => `--enable-${feature}`);
  await runQuietly("wasm-opt", [...made.wasmOpt, ...enabled, bound, "-o", join(folder, `${name}.wasm`)]);
  rmSync(bound);
  rmSync(join(folder, `${name}_bg.wasm.d.ts`), { force: true });
  // The comments stand in its declarations too. Names stay, for stack traces.
  const binding = join(folder, `${name}.js`);
  await runQuietly("esbuild", [
    binding,
    "--minify-whitespace",
    "--minify-syntax",
    "--format=esm",
    `--outfile=${binding}`,
    "--allow-overwrite",
  ]);
}

/**
 * A binding and the core as rustc makes them, with LTO: as a cdylib alone.
 * @param {string} binding
 * @param {string} features
 * @param {typeof BUILD_FLAGS.size} [made] the file
 */
async function compile(binding, features, made = BUILD_FLAGS.size) {
  const target = join(root, "target", made.folder);
  const env = {
    ...wasmEnv(),
    CARGO_TARGET_DIR: target,
    CARGO_PROFILE_RELEASE_OPT_LEVEL: made.level,
    CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS: made.flags,
    // The compiler is a stable one, and -Z is not.
    RUSTC_BOOTSTRAP: "1",
  };
  const kind = ["--package", binding, "--lib", "--crate-type", "cdylib", "--target", TARGET, BUILD_STD, made.std];
  await runQuietly("cargo", ["rustc", "--release", ...kind, "--no-default-features", "--features", features], { env });
  return join(target, TARGET, "release", `${binding.replaceAll("-", "_")}.wasm`);
}

async function buildCore() {
  const { agents, ...small } = MODULES;
  const inTurn = async () => {
    // They are compiled in one folder.
    for (const [name, features] of Object.entries(small)) await bind(features, pkg, name);
  };
  // Beside each other: what links a module uses one processor.
  await Promise.all([inTurn(), bind(agents, pkg, "agents")]);
  copyVocabularies();
}

function copyVocabularies() {
  for (const name of ["o200k_base.planes", "cl100k_base.planes"])
    copyFileSync(join(root, "src", "tokens", name), join(pkg, name));
}

/** The core by wasm-pack, in a few seconds and without optimization: for development. The next build replaces it. */
function buildDev() {
  for (const part of ["core", "shim"]) rmSync(join(root, "target", `built-${part}`), { force: true });
  const env = {
    ...wasmPackEnv(),
    CARGO_TARGET_DIR: join(root, "target", "wasm"),
    CARGO_INCREMENTAL: "1",
    CARGO_PROFILE_DEV_OPT_LEVEL: "0",
  };
  for (const [name, features] of Object.entries(MODULES)) {
    const out = ["--out-dir", pkg, "--out-name", name];
    // All count, so that the library is compiled once.
    run(
      "wasm-pack",
      [
        "build",
        "--dev",
        "--target",
        "web",
        "--mode",
        "no-install",
        "--no-pack",
        "--no-opt",
        ...out,
        join("crates", "wasm"),
        "--features",
        `${features},tokens`,
      ],
      { env },
    );
    renameSync(join(pkg, `${name}_bg.wasm`), join(pkg, `${name}.wasm`));
    rmSync(join(pkg, `${name}_bg.wasm.d.ts`), { force: true });
  }
  // It would tell npm to leave the folder out.
  rmSync(join(pkg, ".gitignore"), { force: true });
  copyVocabularies();
  return buildShim();
}

async function buildShim() {
  const { bundles } = await import("./bundles.mjs");
  await bundles();
  buildTypes();
}

/**
 * Writes the declarations that callers' compilers reach from the entries, and no others: leftoff's insides are nobody's
 * concern, and the modules' declarations want the DOM. The types that callers name stand in js/types as declarations,
 * so a rule that moves to Rust takes no type with it. What `require` loads, too, ships twice: a class of the one is none
 * of the other, as it is when they run.
 */
function buildTypes() {
  const all = join(root, "target", "types");
  const types = join(root, "types");
  for (const folder of [all, types]) rmSync(folder, { recursive: true, force: true });
  run("tsc", ["--project", "scripts/types.json"], { quiet: true });
  // tsc emits no declarations for what is one.
  const declared = readdirSync(join(root, "js"), { recursive: true, encoding: "utf8" }).filter((name) =>
    name.endsWith(".d.ts"),
  );
  for (const name of declared) copyFileSync(join(root, "js", name), join(all, name));
  for (const [folder, entries] of /** @type {[string, string[]][]} */ ([
    [types, [...ENTRIES, ...MODULE_ENTRIES]],
    [join(types, "cjs"), ENTRIES],
  ])) {
    for (const path of findDeclarations(all, entries)) {
      const to = join(folder, path.slice(all.length));
      mkdirSync(dirname(to), { recursive: true });
      // What only these comments name does not ship; the compiler has written what it takes from them.
      writeFileSync(to, readFileSync(path, "utf8").replace(/^\/\*\* @import .*\n/gm, ""));
    }
  }
  writeFileSync(join(types, "cjs", "package.json"), '{ "type": "commonjs" }\n');
}

/** The declarations in a folder that those of entries reach. @param {string} folder @param {string[]} entries */
function findDeclarations(folder, entries) {
  const files = entries.map((file) => join(folder, file.replace(/\.js$/, ".d.ts")));
  const options = [
    "--ignoreConfig",
    "--listFilesOnly",
    "--module",
    "nodenext",
    "--target",
    "es2023",
    "--types",
    "node",
  ];
  const reached = run("tsc", [...options, ...files], { quiet: true });
  return reached.split("\n").filter((path) => path.startsWith(folder));
}

/**
 * Runs a build where its inputs changed since it last ran, or what it made is gone; answers whether it ran.
 * @param {string} name
 * @param {string[]} inputs files and folders, as seen from the root
 * @param {string[]} outputs
 * @param {() => void | Promise<void>} work
 */
async function fresh(name, inputs, outputs, work) {
  const stamp = join(root, "target", `built-${name}`);
  const hash = digest(inputs);
  if (outputs.every((path) => existsSync(path)) && existsSync(stamp) && readFileSync(stamp, "utf8") === hash)
    return false;
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
    const stat = statSync(full, { throwIfNoEntry: false });
    if (stat?.isDirectory()) for (const name of readdirSync(full).sort()) add(`${path}/${name}`);
    else if (stat) hash.update(`${path}\0${stat.size}\0`).update(readFileSync(full));
  };
  for (const input of inputs) add(input);
  return hash.digest("hex");
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  const parts = { core: buildCore, shim: buildShim, component: buildComponent, dev: buildDev, all: build };
  const name = process.argv[2] ?? "all";
  if (!(name in parts)) fail(`expected ${Object.keys(parts).join(", ")}, but found ${name} instead`);
  await step(`build ${name}`, parts[/** @type {keyof typeof parts} */ (name)]);
}
