// @ts-check
// What the packed package is tried with beside what the project itself needs: bundlers, other versions of Node, judges
// of packages.

import { copyFileSync, existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { fail, root, run } from "../../scripts/run.mjs";

const folder = join(root, "target", "pack-tools");
const wanted = join(root, "tests", "pack", "tools", "package.json");

/** Installs them, where they are not those that are wanted. */
export function install() {
  const mark = join(folder, ".installed");
  const list = readFileSync(wanted, "utf8");
  if (existsSync(mark) && readFileSync(mark, "utf8") === list) return false;
  mkdirSync(folder, { recursive: true });
  copyFileSync(wanted, join(folder, "package.json"));
  run("npm", ["install", "--ignore-scripts", "--no-audit", "--no-fund", "--no-package-lock", "--prefer-offline"], {
    cwd: folder,
    quiet: true,
  });
  writeFileSync(mark, list);
}

/** One of them, loaded. @param {string} name @returns {Promise<any>} */
export function tool(name) {
  return import(pathToFileURL(createRequire(join(folder, "package.json")).resolve(name)).href);
}

/** A file of one of them; nothing where this machine has none. @param {string[]} path */
export function fileOf(...path) {
  const file = join(folder, "node_modules", ...path);
  return existsSync(file) ? file : undefined;
}

/** Bun's program: npm's `bun` finds it by an install script, and no script of a package is run here. */
export function bun() {
  const folder = join(root, "node_modules", "@oven");
  const [found] = readdirSync(folder)
    .map((name) => join(folder, name, "bin", "bun"))
    .filter(existsSync);
  return found ?? fail(`expected Bun's program in ${folder}, but found none`);
}
