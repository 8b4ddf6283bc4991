// @ts-check
/** `leftoff export`: a session as one text, or as another agent keeps its own. */

import { rm, writeFile } from "node:fs/promises";

import { LeftoffError } from "../index.js";
import { codeOf } from "../storage/folders.js";
import { fromSystemError } from "../storage/system-errors.js";
import { EXPORT_FORMATS } from "./arguments.js";
import { lossText } from "./losses.js";
import { note } from "./print.js";
import { findSession, withStore } from "./store.js";

/** @typedef {Record<string, any>} Args */

/** @param {Args} args */
export async function exportSession({ to = EXPORT_FORMATS[0], output, ...args }) {
  const format = EXPORT_FORMATS.find((name) => name === to);
  if (!format) return exportForAgent(to, { ...args, output });
  return withStore(args, async (store) => {
    const session = await findSession(store, args);
    const value = await session.export(format, { allBranches: args["all-branches"] });
    if (!output) return { text: value, value };
    await writeNew(output, value);
    return { text: `${output}\n`, value: { path: output } };
  });
}

/**
 * Writes it where the client finds it; starts nothing, and leaves the session as it is.
 * @param {string} agent
 * @param {Args} args
 */
async function exportForAgent(agent, args) {
  const other = ["output", "all-branches"].find((name) => args[name] !== undefined && args[name] !== false);
  if (other)
    throw new LeftoffError({
      code: "usage",
      message: `--${other} goes with --to ${EXPORT_FORMATS.join(", ")}: a session for ${agent} is written where ${agent} looks for it`,
    });
  const value = await withStore(args, async (store) => store.writeForAgent(await findSession(store, args), { agent }));
  const { path, folder, command, takes, included, messageCount } = value;
  if (!args.json) {
    const lost = lossText(value.losses).trimEnd();
    if (lost) note(`not everything could be written for ${agent}:\n${lost}`);
    if (included < messageCount) note(`${included} of ${messageCount} messages fit; a summary replaces the others`);
    note(
      `to resume it in ${folder}: ${[takes, command].flatMap((words) => (words ? [words.join(" ")] : [])).join(" && ")}`,
    );
  }
  return { text: `${path}\n`, value };
}

/** @param {string} path @param {string} text */
async function writeNew(path, text) {
  try {
    await writeFile(path, text, { flag: "wx", mode: 0o600 });
  } catch (cause) {
    if (codeOf(cause) === "EEXIST")
      throw new LeftoffError({
        code: "already_exists",
        message: `could not write "${path}": it already exists`,
        cause,
      });
    // A partial file would be taken for the whole, and be in the way next time.
    if (/** @type {NodeJS.ErrnoException} */ (cause).syscall === "write")
      await rm(path, { force: true }).catch(() => {});
    throw fromSystemError(Object.assign(/** @type {Error} */ (cause), { path }));
  }
}
