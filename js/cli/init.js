// @ts-check
/** `leftoff init`: sets agents up, and takes it back. */

import { existsSync, realpathSync, rmSync, readdirSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

import { userHome } from "../agents/homes.js";
import { folderOnPath } from "../agents/native.js";
import { install, readTextAt, uninstall, writeWithFolders } from "../init/install.js";
import { agentsToSetUp, agentsWithPlugin } from "../init/names.js";
import { splitRecord, rejectLinks } from "../init/init-record.js";
import { partsFor } from "../init/parts.js";
import { commandWithPath, shellWords } from "../init/shell.js";
import { isFolder } from "../storage/real-path.js";
import { LeftoffError } from "../index.js";
import { layoutNames } from "../placement/placement.js";

/** @typedef {Record<string, any>} Args */
/** @import { FileOutcome } from "../init/install.js" */

/**
 * @typedef {{ version: number, agents: Record<string, unknown>, folders: string[] }} InitRecord what was installed in a
 *   project
 */

const WORDS = {
  written: "written",
  updated: "changed",
  unchanged: "unchanged",
  yours: "kept: it was edited since leftoff wrote it",
  others: "kept: leftoff writes no such file",
  removed: "removed",
  gone: "already gone",
};

/** @param {Args} args */
export async function init(args) {
  const { agent, plugin } = args;
  const known = plugin === undefined ? agentsToSetUp : agentsWithPlugin;
  if (!known.includes(agent))
    throw new LeftoffError({
      code: "usage",
      message: `cannot set up "${agent}"${plugin === undefined ? "" : " as a plugin"}: choose ${known.join(", ")}. 'leftoff resume --with AGENT' needs no set-up`,
    });
  const project = realpathSync(args.workspace ?? process.cwd());
  const root = plugin === undefined ? project : resolve(plugin);
  const key = plugin === undefined ? agent : `${agent} in ${root}`;
  const noted = await readInitRecord(project);
  const parts = /** @type {import("../init/parts.js").Parts} */ (
    partsFor(agent, { ...findPrograms(), module: findPlugin(), plugin: plugin !== undefined })
  );
  const isNoted = Object.hasOwn(noted.agents, key);
  const { own, others } = splitRecord(isNoted ? noted.agents[key] : undefined, parts, agent);
  if (args.remove) {
    const told = [
      ...(await uninstall(root, own)),
      ...others.map((path) => ({ path, did: /** @type {const} */ ("others") })),
    ];
    delete noted.agents[key];
    await writeInitRecord(project, noted);
    return {
      text: told.length > 0 ? renderOutcomes(root, told) : `leftoff is not set up for ${agent} here\n`,
      value: told,
    };
  }
  const { installed, told } = await install(root, parts, own);
  noted.agents[key] = installed;
  await writeInitRecord(project, noted);
  const theirs = new Set(told.flatMap(({ path, did }) => (did === "yours" ? [path] : [])));
  const commands = parts.commands
    .filter(({ path }) => !theirs.has(path))
    .map(({ name, description }) => `  ${name.padEnd(30)} ${description}\n`)
    .join("");
  const notes = parts.notes.map((one) => `  ${one.replace("DIR", root)}\n`).join("");
  return { text: `${renderOutcomes(root, told)}\navailable in ${agent}:\n${commands}${notes}`, value: told };
}

/** @param {string} root @param {FileOutcome[]} told */
function renderOutcomes(root, told) {
  return told.map(({ path, did }) => `${join(root, path)}  ${WORDS[did]}\n`).join("");
}

// By name where leftoff is on the PATH: then others can use the files, too. A client's hooks may have another PATH,
// even without Node.
function findPrograms() {
  const folder = folderOnPath("leftoff");
  if (folder === undefined) {
    const entry = realpathSync(process.argv[1] ?? "");
    const server = { command: process.execPath, args: [entry, "mcp"] };
    return { program: shellWords([process.execPath, entry]), server };
  }
  // There it is a script of the shell's, which no other program starts.
  if (process.platform === "win32")
    return { program: "leftoff", server: { command: "cmd", args: ["/c", "leftoff mcp"] } };
  const node = folderOnPath("node") ?? dirname(process.execPath);
  const anywhere = commandWithPath("leftoff", [resolve(folder), resolve(node)], userHome(process.env));
  return { program: "leftoff", anywhere, server: { command: "sh", args: ["-c", `${anywhere} mcp`] } };
}

/** The address of OpenCode's plugin: it lies beside the command, or where that is developed beside its folder. */
function findPlugin() {
  const folder = dirname(realpathSync(process.argv[1] ?? ""));
  const built = join(folder, "opencode.mjs");
  return pathToFileURL(existsSync(built) ? built : resolve(folder, "../opencode/index.js")).href;
}

const RECORD_FILE = ".leftoff/init.json";

/** @param {string} project */
const notePath = (project) => join(project, RECORD_FILE);

/** @param {string} project @returns {Promise<InitRecord>} */
async function readInitRecord(project) {
  await rejectLinks(project, RECORD_FILE);
  const text = await readTextAt(notePath(project));
  try {
    const { version = 1, agents = {}, folders = [] } = text === undefined ? {} : JSON.parse(text);
    return {
      version,
      agents: Object.fromEntries(Object.entries(agents)),
      folders: Array.isArray(folders) ? folders : [],
    };
  } catch (cause) {
    throw new LeftoffError({
      code: "usage",
      message: `cannot read "${notePath(project)}", where 'leftoff init' lists what it installed; without it nothing can be removed`,
      cause,
    });
  }
}

// The folder is leftoff's alone: if it was made for this record, it goes with it.
/** @param {string} project @param {InitRecord} noted */
async function writeInitRecord(project, noted) {
  for (const file of [RECORD_FILE, ".leftoff/.gitignore"]) await rejectLinks(project, file);
  const path = notePath(project);
  const folder = join(project, ".leftoff");
  if (Object.keys(noted.agents).length > 0) {
    if (!isFolder(folder))
      await writeWithFolders(project, join(folder, ".gitignore"), layoutNames().ignored, noted.folders);
    await writeWithFolders(project, path, `${JSON.stringify(noted, null, 2)}\n`, noted.folders);
    return;
  }
  rmSync(path, { force: true });
  const isOurs = noted.folders.includes(basename(folder));
  if (isOurs && readdirSync(folder).every((name) => name === ".gitignore")) rmSync(folder, { recursive: true });
}
