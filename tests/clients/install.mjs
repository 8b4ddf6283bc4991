// @ts-check
/** Installs the pinned clients where they are not those of the lock file. */

import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root, run } from "../../scripts/run.mjs";

const here = join(root, "tests", "clients");
const folder = join(root, "target", "clients");

/** Answers `false` where they are there already. */
export function install() {
  const lock = readFileSync(join(here, "package-lock.json"), "utf8");
  const mark = join(folder, ".leftoff-lock");
  if (existsSync(mark) && readFileSync(mark, "utf8") === lock) return false;
  mkdirSync(folder, { recursive: true });
  for (const name of ["package.json", "package-lock.json"]) copyFileSync(join(here, name), join(folder, name));
  // The programs are native and lie in packages of their own: no install script is needed to run them, nor the Node
  // that their wrappers ask for.
  run("npm", ["install", "--no-save", "--ignore-scripts", "--no-audit", "--no-fund"], { cwd: folder, quiet: true });
  writeFileSync(mark, lock);
}

/** Claude Code's program for this machine; `null` where there is none. */
export function claudeCode() {
  const packages = join(folder, "node_modules", "@anthropic-ai");
  const musl = existsSync("/etc/alpine-release") ? "-musl" : "";
  const program = join(packages, `claude-code-${process.platform}-${process.arch}${musl}`, process.platform === "win32" ? "claude.exe" : "claude");
  return existsSync(program) ? program : null;
}

/** The version that is pinned. */
export function version() {
  return JSON.parse(readFileSync(join(here, "package.json"), "utf8")).dependencies["@anthropic-ai/claude-code"];
}
