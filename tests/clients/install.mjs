// @ts-check
/**
 * Installs the pinned clients where they are not those of the lock files, or other versions beside them, and says where
 * they are.
 */

import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root, run, watch } from "../../scripts/run.mjs";

const CI = { lock: join(root, "tests", "clients"), folder: join(root, "target", "clients") };
const MORE = { lock: join(CI.lock, "more"), folder: join(CI.folder, "more") };
/** The SDK alone: without the programs that it brings along, 200 MB of them, and without packages for tools of one's own. */
const CLAUDE_SDK = {
  lock: join(CI.lock, "claude-sdk"),
  folder: join(root, "target", "claude-sdk"),
  args: ["--omit=optional", "--omit=peer", "--legacy-peer-deps"],
};
const OTHERS = join(root, "target", "other-clients");
// No install script is needed: native programs lie in packages of their own, and the others are started by their file.
const NPM_INSTALL = ["install", "--no-save", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];

/**
 * A file of an installed package; `null` where this machine has none.
 * @typedef {(name: string, file: string) => string | null} Look
 */

/** Answers `false` where they are there already. @param {{ all: boolean }} options all, or those that CI drives */
export function install({ all }) {
  const did = (all ? [CI, MORE] : [CI]).map(installLocked);
  return did.includes(true);
}

/** Installs the Claude Agent SDK, and answers its file. */
export function installClaudeSdk() {
  installLocked(CLAUDE_SDK);
  return join(CLAUDE_SDK.folder, "node_modules", "@anthropic-ai", "claude-agent-sdk", "sdk.mjs");
}

/**
 * Installs what a lock file names, unless it is there; answers whether it had to.
 * @param {{ lock: string, folder: string, args?: string[], build?: () => void }} place `build`: what is done with it
 *   before it counts as there
 */
export function installLocked({ lock: from, folder, args = [], build }) {
  const lock = readFileSync(join(from, "package-lock.json"), "utf8");
  const mark = join(folder, ".leftoff-lock");
  if (existsSync(mark) && readFileSync(mark, "utf8") === lock) return false;
  mkdirSync(folder, { recursive: true });
  for (const name of ["package.json", "package-lock.json"]) copyFileSync(join(from, name), join(folder, name));
  run("npm", [...NPM_INSTALL, ...args], { cwd: folder, quiet: true });
  build?.();
  writeFileSync(mark, lock);
  return true;
}

/**
 * Installs one version of a package, in a folder of its own. Throws what npm says where it cannot.
 * @param {string} name @param {string} version
 * @returns {Promise<Look>} looks there alone, so that what is missing is not taken from the pinned version
 */
export async function installOther(name, version) {
  const folder = join(OTHERS, `${name.replaceAll("/", "-")}-${version}`);
  const mark = join(folder, ".leftoff-installed");
  if (!existsSync(mark)) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true, dependencies: { [name]: version } }));
    const { ok, output } = await watch("npm", [...NPM_INSTALL, "--prefix", folder], { quiet: true });
    if (!ok)
      throw new Error(
        /^npm error (?!code|A complete log)(?:notarget )?(.+)$/m.exec(output)?.[1] ??
          `npm cannot install it: ${output}`,
      );
    writeFileSync(mark, version);
  }
  return lookIn([folder]);
}

/** Looks among the pinned versions. */
export const lookPinned = lookIn([CI.folder, MORE.folder]);

/** @param {string[]} folders @returns {Look} */
export function lookIn(folders) {
  return (name, file) =>
    folders.map((folder) => join(folder, "node_modules", name, file)).find((one) => existsSync(one)) ?? null;
}

/**
 * The file that a package starts as a command; `null` where there is none.
 * @param {Look} look
 * @param {string} name
 * @param {string} command
 */
export function commandIn(look, name, command) {
  const about = look(name, "package.json");
  const file = about && JSON.parse(readFileSync(about, "utf8")).bin?.[command];
  return file ? look(name, file) : null;
}

/** The version that is pinned. @param {string} name */
export function pinnedVersion(name) {
  const versions = [CI, MORE].map(
    ({ lock }) => JSON.parse(readFileSync(join(lock, "package.json"), "utf8")).dependencies[name],
  );
  return versions.find((version) => version !== undefined);
}

/** The Node that some clients want; this one, where it is new enough. @param {Look} [look] */
export function newerNode(look = lookPinned) {
  const own = look(`node-${process.platform}-${process.arch}`, join("bin", "node"));
  return own ?? process.execPath;
}
