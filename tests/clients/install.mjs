// @ts-check
/** Installs the pinned clients where they are not those of the lock files, and says where they are. */

import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root, run } from "../../scripts/run.mjs";

const CI = { lock: join(root, "tests", "clients"), folder: join(root, "target", "clients") };
const MORE = { lock: join(CI.lock, "more"), folder: join(CI.folder, "more") };

/** Answers `false` where they are there already. @param {{ all: boolean }} options all, or those that CI drives */
export function install({ all }) {
  const did = (all ? [CI, MORE] : [CI]).map(installed);
  return did.includes(true);
}

/** @param {typeof CI} place */
function installed({ lock: from, folder }) {
  const lock = readFileSync(join(from, "package-lock.json"), "utf8");
  const mark = join(folder, ".leftoff-lock");
  if (existsSync(mark) && readFileSync(mark, "utf8") === lock) return false;
  mkdirSync(folder, { recursive: true });
  for (const name of ["package.json", "package-lock.json"]) copyFileSync(join(from, name), join(folder, name));
  // No install script is needed: native programs lie in packages of their own, and the others are started by their file.
  run("npm", ["install", "--no-save", "--ignore-scripts", "--no-audit", "--no-fund"], { cwd: folder, quiet: true });
  writeFileSync(mark, lock);
  return true;
}

/** A file of an installed package; `null` where this machine has none. @param {string} name @param {string} file */
export function inPackage(name, file) {
  const path = [CI, MORE].map(({ folder }) => join(folder, "node_modules", name, file)).find((one) => existsSync(one));
  return path ?? null;
}

/** The version that is pinned. @param {string} name */
export function pinned(name) {
  const versions = [CI, MORE].map(({ lock }) => JSON.parse(readFileSync(join(lock, "package.json"), "utf8")).dependencies[name]);
  return versions.find((version) => version !== undefined);
}

/** The Node that some clients want; this one, where it is new enough. */
export function newerNode() {
  const own = inPackage(`node-${process.platform}-${process.arch}`, join("bin", "node"));
  return own ?? process.execPath;
}
