// @ts-check
// Writes pkg/LICENSES.txt: the license of each package whose code ships, in JavaScript by what esbuild bundled, in
// WebAssembly by what cargo compiles into it, with Rust's own library, and in data. `pkg/shipped.json` lists them. A
// package without a text ends the process.

import { existsSync, readFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fail, root, run } from "./run.mjs";
import { BUILD_STD, TARGET, wasmEnv } from "./toolchain.mjs";

/**
 * @typedef {{ from: "npm" | "cargo" | "generic", name: string, version: string, license: string, source?: string, text: () => string }} BundledPart `source`: where its source can be found
 */
/**
 * @typedef {{ pkg_id: string, platform: string | null, mode: string, is_std?: boolean, target: { name: string, src_path: string }, dependencies: { index: number }[] }} Unit a unit that cargo compiles, once for each kind of machine
 */

/** The bindings that are compiled to WebAssembly, with the features that ship. */
const COMPILED_BINDINGS = { wasm: ["--features", "core,tokens,agents"], component: [] };
/** Data that others made, by the file that has its license. @type {[name: string, version: string, file: string][]} */
const DATA = [
  ["gitleaks", "8.25.0", "scripts/secret-rules/LICENSE"],
  ["tiktoken", "0.12.0", "src/tokens/LICENSE.tiktoken"],
  ["litellm", "1.110.2", "src/tokens/LICENSE.litellm"],
];
/** Licenses whose texts may be missing where a package offers them among others. */
const OTHER_CHOICES = /apache|zlib|unlicense|copying/i;
const LICENSE_FILE = /^(?:licen[cs]e|copying|notice|unlicense)/i;
/** Debian removes the texts from the library's source, and keeps them here. */
const DEBIAN_COPYRIGHT = "/usr/share/doc/rust-web-src/copyright";

/** @param {Iterable<string>} files what was bundled, as seen from the root */
export function licenses(files) {
  const data = DATA.map(
    ([name, version, file]) =>
      /** @type {BundledPart} */ ({
        from: "generic",
        name,
        version,
        license: "MIT",
        text: () => readFileSync(join(root, file), "utf8").trim(),
      }),
  );
  const all = [
    ...data,
    ...packages(files),
    ...Object.entries(COMPILED_BINDINGS).flatMap(([name, features]) => crates(name, features)),
  ];
  const known = new Map(all.map((one) => [`${one.name} ${one.version}`, one]));
  const chapters = [...known]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(
      ([title, one]) =>
        `${title}, ${one.license}${one.source ? `\n${one.source}` : ""}\n${"-".repeat(76)}\n\n${one.text()}\n`,
    );
  const head =
    "What leftoff's own license, LICENSE, does not cover: the packages whose code is in pkg/, and their licenses.\nWritten by scripts/licenses.mjs.\n";
  writeFileSync(join(root, "pkg", "LICENSES.txt"), [head, ...chapters].join("\n"));
  // For scripts/sbom.mjs, when the package is packed.
  const shipped = [...known].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, { text, ...one }]) => one);
  writeFileSync(join(root, "pkg", "shipped.json"), `${JSON.stringify(shipped, null, 1)}\n`);
}

/** The bundled packages of npm. @param {Iterable<string>} files @returns {BundledPart[]} */
function packages(files) {
  const folders = new Set(
    Array.from(files, (file) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0]).filter(
      (one) => one !== undefined,
    ),
  );
  return [...folders].map((place) => {
    const folder = join(root, place);
    const { name, version, license, repository } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    const source = addressOf(repository?.url ?? repository);
    return {
      from: "npm",
      name,
      version,
      license,
      source,
      text: () =>
        readLicense(folder) ??
        fail(`expected ${name} ${version} to come with its license, but found none in ${folder}`),
    };
  });
}

/** A repository's address; npm's short names are GitHub's. @param {string | undefined} repository */
function addressOf(repository) {
  if (repository === undefined || repository.includes("://")) return repository?.replace(/^git\+|\.git$/g, "");
  return `https://github.com/${repository.replace(/^github:/, "")}`;
}

/**
 * The crates that end up in a module: no macros, and nothing for builds and tests alone.
 * @param {string} binding
 * @param {string[]} features
 * @returns {BundledPart[]}
 */
function crates(binding, features) {
  const asked = [
    "build",
    "--release",
    "--package",
    `leftoff-${binding}`,
    "--lib",
    "--target",
    TARGET,
    BUILD_STD,
    "-Zbuild-std-features=",
    "--no-default-features",
    ...features,
    "-Zunstable-options",
    "--unit-graph",
  ];
  const env = { ...wasmEnv(), RUSTC_BOOTSTRAP: "1" };
  /** @type {{ units: Unit[] }} */
  const { units } = JSON.parse(run("cargo", asked, { quiet: true, env }));
  /** @type {Set<Unit>} */
  const library = new Set();
  const take = (/** @type {Unit | undefined} */ unit) => {
    if (!unit || unit.platform !== TARGET || library.has(unit)) return;
    library.add(unit);
    for (const { index } of unit.dependencies) take(units[index]);
  };
  // All of the library is compiled, and of that only what these two use can be linked.
  for (const unit of units) if (unit.is_std && ["std", "panic_abort"].includes(unit.target.name)) take(unit);
  const own = units.filter(
    (unit) => unit.platform === TARGET && unit.mode === "build" && !unit.is_std && unit.pkg_id.startsWith("registry"),
  );
  const release = run("rustc", ["--version"], { quiet: true, env }).split(" ")[1] ?? "";
  const sysroot = run("rustc", ["--print", "sysroot"], { quiet: true, env }).trim();
  return [
    ...own.map((unit) => crate(unit)),
    ...[...library].map((unit) => crate(unit, () => standardLibrary(unit, release, sysroot))),
  ];
}

/**
 * A crate by its own manifest or, where it has no license of its own, as a part of something else.
 * @param {Unit} unit
 * @param {() => BundledPart} [whole]
 * @returns {BundledPart}
 */
function crate({ pkg_id, target }, whole) {
  const folder = folderAbove(target.src_path, (at) => existsSync(join(at, "Cargo.toml")));
  const field = (/** @type {string} */ name) =>
    new RegExp(`^${name} *= *["'](.*)["']$`, "m").exec(readFileSync(join(folder, "Cargo.toml"), "utf8"))?.[1];
  const [name, version, license] = ["name", "version", "license"].map(field);
  if (!name || !version || !license)
    return fail(`expected ${pkg_id} to say its name, version and license, but found ${name}, ${version}, ${license}`);
  // One of a repository of its own within the library's has it at the top of that.
  const text = readLicense(folder) ?? (pkg_id.startsWith("path") ? readLicense(dirname(folder)) : undefined);
  if (text === undefined && whole) return whole();
  return {
    from: "cargo",
    name,
    version,
    license,
    source: field("repository"),
    text: () => text ?? fail(`expected ${name} ${version} to come with its license, but found none in ${folder}`),
  };
}

/**
 * Rust's own library, which has a unit: its list of copyrights for the unit's files, with the texts that the list
 * names.
 * @param {Unit} unit
 * @param {string} version
 * @param {string} sysroot
 * @returns {BundledPart}
 */
function standardLibrary({ target }, version, sysroot) {
  const docs = join(sysroot, "share", "doc", "rust");
  const list = join(docs, "COPYRIGHT-library.html");
  const known = { from: /** @type {const} */ ("generic"), name: "rust-std", version };
  if (!existsSync(list)) {
    const text = () =>
      existsSync(DEBIAN_COPYRIGHT)
        ? readFileSync(DEBIAN_COPYRIGHT, "utf8").trim()
        : fail(`expected the copyrights of ${target.src_path} at ${list}, but found none: reinstall Rust with rustup`);
    return { ...known, license: "MIT OR Apache-2.0", text };
  }
  const files =
    /<h2[^>]*>(?:<a[^>]*>)*In-tree files(.*?)<h2/s.exec(readFileSync(list, "utf8"))?.[1] ??
    fail(`expected a list of files in ${list}, but found none`);
  const plain = files
    .replace(/<[^>]*>/g, "")
    .replace(/\n\s*\n/g, "\n")
    .trim();
  const named = [...new Set(Array.from(plain.matchAll(/License: (.*)/g), ([, one = ""]) => one))];
  const texts = [...new Set(named.flatMap((one) => one.split(/[ ()]+|AND|OR/)))].filter(
    (one) => one !== "" && !OTHER_CHOICES.test(one),
  );
  const license = named.map((one) => (one.includes(" ") ? `(${one})` : one)).join(" AND ");
  return {
    ...known,
    license,
    text: () =>
      [plain, ...texts.map((one) => readFileSync(join(docs, "licenses", `${one}.txt`), "utf8").trim())].join("\n\n"),
  };
}

/**
 * The nearest folder above a file for which a test holds.
 * @param {string} path
 * @param {(folder: string) => boolean} isIt
 */
function folderAbove(path, isIt) {
  let folder = dirname(path);
  while (!isIt(folder))
    folder = dirname(folder) !== folder ? dirname(folder) : fail(`expected a manifest above ${path}, but found none`);
  return folder;
}

/** The license of a package, from its folder. @param {string} folder */
function readLicense(folder) {
  const files = readdirSync(folder)
    .filter((file) => LICENSE_FILE.test(file))
    .flatMap((file) => {
      const path = join(folder, file);
      return statSync(path).isDirectory() ? readdirSync(path).map((inner) => join(path, inner)) : [path];
    });
  const chosen = files.filter((file) => !OTHER_CHOICES.test(file.slice(folder.length)));
  const texts = (chosen.length > 0 ? chosen : files)
    .filter((file) => existsSync(file))
    .map((file) => readFileSync(file, "utf8").trim());
  return texts.length > 0 ? texts.join("\n\n") : undefined;
}
