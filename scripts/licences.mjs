// @ts-check
// pkg/LICENSES.txt: the licence of each package whose code is in what ships, in JavaScript by what esbuild bundled, in WebAssembly by
// what cargo compiles into it. `pkg/shipped.json` lists them. A package that comes without a text of its own ends the process.

import { existsSync, readFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fail, root, run } from "./run.mjs";
import { TARGET } from "./toolchain.mjs";

/** @typedef {{ from: "npm" | "cargo", name: string, version: string, license: string, folder: string }} Bundled */
/** @typedef {{ id: string, name: string, version: string, license: string, source: string | null, manifest_path: string, targets: { kind: string[] }[] }} Crate */

/** The bindings that are compiled to WebAssembly, with the features that ship. */
const COMPILED = { wasm: ["--features", "core,tokens,agents"], component: [] };
/** Where a package may be had by one of several, the texts of these need not be there, too. */
const OTHER_CHOICES = /apache|zlib|unlicense|copying/i;

/** @param {Iterable<string>} files what was bundled, as seen from the root */
export function licences(files) {
  const all = [...packages(files), ...Object.entries(COMPILED).flatMap(([name, features]) => crates(name, features))];
  const known = new Map(all.map((one) => [`${one.name} ${one.version}`, one]));
  const chapters = [...known].sort(([a], [b]) => (a < b ? -1 : 1)).map(([title, one]) => `${title}, ${one.license}\n${"-".repeat(76)}\n\n${textOf(one)}\n`);
  const head = "What leftoff's own licence, LICENSE, does not cover: the packages whose code is in pkg/, and their licences.\nWritten by scripts/licences.mjs.\n";
  writeFileSync(join(root, "pkg", "LICENSES.txt"), [head, ...chapters].join("\n"));
  // For scripts/sbom.mjs, when the package is packed.
  const shipped = [...known].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, { folder, ...one }]) => one);
  writeFileSync(join(root, "pkg", "shipped.json"), `${JSON.stringify(shipped, null, 1)}\n`);
}

/** Those of npm. @param {Iterable<string>} files @returns {Bundled[]} */
function packages(files) {
  const folders = new Set(Array.from(files, (file) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0]).filter((one) => one !== undefined));
  return [...folders].map((place) => {
    const folder = join(root, place);
    const { name, version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    return { from: "npm", name, version, license, folder };
  });
}

/** Those of cargo that end up in a module: no macros, and nothing that is for builds and tests. @param {string} binding @param {string[]} features @returns {Bundled[]} */
function crates(binding, features) {
  const asked = ["metadata", "--format-version", "1", "--filter-platform", TARGET, "--manifest-path", join("crates", binding, "Cargo.toml"), "--no-default-features", ...features];
  /** @type {{ packages: Crate[], resolve: { root: string, nodes: { id: string, deps: { pkg: string, dep_kinds: { kind: string | null }[] }[] }[] } }} */
  const { packages, resolve } = JSON.parse(run("cargo", asked, { quiet: true }));
  const byId = new Map(packages.map((one) => [one.id, one]));
  const uses = new Map(resolve.nodes.map(({ id, deps }) => [id, deps.filter(({ dep_kinds }) => dep_kinds.some(({ kind }) => kind === null)).map(({ pkg }) => pkg)]));
  /** @type {Map<string, Crate>} */
  const met = new Map();
  const walk = (/** @type {string} */ id) => {
    const one = byId.get(id);
    if (!one || met.has(id) || one.targets.some(({ kind }) => kind.includes("proc-macro"))) return;
    met.set(id, one);
    for (const used of uses.get(id) ?? []) walk(used);
  };
  walk(resolve.root);
  return [...met.values()].filter(({ source }) => source !== null).map(({ name, version, license, manifest_path }) => ({ from: "cargo", name, version, license, folder: dirname(manifest_path) }));
}

/** @param {Bundled} one */
function textOf({ name, version, folder }) {
  const files = readdirSync(folder).filter((file) => /^(?:licen[cs]e|copying|notice|unlicense)/i.test(file)).flatMap((file) => {
    const path = join(folder, file);
    return statSync(path).isDirectory() ? readdirSync(path).map((inner) => join(path, inner)) : [path];
  });
  const chosen = files.filter((file) => !OTHER_CHOICES.test(file.slice(folder.length)));
  const texts = (chosen.length > 0 ? chosen : files).filter(existsSync).map((file) => readFileSync(file, "utf8").trim());
  return texts.length > 0 ? texts.join("\n\n") : fail(`expected ${name} ${version} to come with its licence, but found none in ${folder}`);
}
