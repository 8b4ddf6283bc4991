// @ts-check
/** Installs the editor that the extension is tried in, and `vsce`, each pinned, into `target/vscode`. */

import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { installPackages } from "../../scripts/debian.mjs";
import { ask, root, run } from "../../scripts/run.mjs";

const LOCK_FOLDER = join(root, "tests", "vscode");
const folder = join(root, "target", "vscode");

/** Installs them unless they are there. */
export function installEditor() {
  const lock = readFileSync(join(LOCK_FOLDER, "package-lock.json"), "utf8");
  const mark = join(folder, ".leftoff-lock");
  if (existsSync(mark) && readFileSync(mark, "utf8") === lock) return;
  mkdirSync(folder, { recursive: true });
  for (const name of ["package.json", "package-lock.json"]) copyFileSync(join(LOCK_FOLDER, name), join(folder, name));
  const as = { cwd: folder, quiet: true };
  run("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"], as);
  // The editor is built here against Kerberos, whose headers few machines have.
  if (process.getuid?.() === 0 && ask("krb5-config", ["--version"]) === null) installPackages(["libkrb5-dev"]);
  const path = `${dirname(newerNode())}${delimiter}${process.env.PATH}`;
  const env = {
    PATH: path,
    // Node's version is asked of npm's name of itself, which an npm that runs this hands down.
    npm_config_user_agent: `npm node/${ask(newerNode(), ["--version"])}`,
    // Where the headers are, which would else be loaded.
    npm_config_nodedir: join(dirname(newerNode()), ".."),
  };
  run("npm", ["rebuild", "code-server"], { ...as, env });
  writeFileSync(mark, lock);
}

/** The Node that the editor and its packer want. */
export function newerNode() {
  const own = join(folder, "node_modules", `node-${process.platform}-${process.arch}`, "bin", "node");
  return existsSync(own) ? own : process.execPath;
}

export const vsce = () => join(folder, "node_modules", "@vscode", "vsce", "vsce");
export const codeServer = () => join(folder, "node_modules", "code-server", "out", "node", "entry.js");
