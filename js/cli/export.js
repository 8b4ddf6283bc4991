// @ts-check
/** `leftoff export`: a session as one text, or as another agent keeps its own. */

import { open, rm } from "node:fs/promises";

import { LeftoffError } from "../index.js";
import { codeOf } from "../storage/folders.js";
import { fromSystemError } from "../storage/system-errors.js";
import { EXPORT_FORMATS, HTML } from "./arguments.js";
import { lossText } from "./losses.js";
import { note, printPiece } from "./print.js";
import { findSession, withStore } from "./store.js";

/** @typedef {Record<string, any>} Args */

/** @param {Args} args */
export async function exportSession({ to = EXPORT_FORMATS[0], output, ...args }) {
  if (to === HTML) return exportPage({ ...args, output });
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
 * Writes the HTML file in pieces, as it may be larger than what is said in it.
 * @param {Args} args
 */
async function exportPage({ output, ...args }) {
  const { exportHtml } = await import("../html/index.js");
  return withStore(args, async (store) => {
    const pieces = exportHtml(await findSession(store, args), { allBranches: args["all-branches"] });
    if (output) {
      await writeNew(output, pieces);
      return { text: `${output}\n`, value: { path: output } };
    }
    let value = "";
    for await (const piece of pieces) {
      if (args.json) value += piece;
      else await printPiece(piece);
    }
    return { text: "", value };
  });
}

/**
 * Writes it where the client finds it; starts nothing, and leaves the session as it is.
 * @param {string} agent
 * @param {Args} args
 */
async function exportForAgent(agent, args) {
  const formats = [...EXPORT_FORMATS, HTML].join(", ");
  const other = ["output", "all-branches"].find((name) => args[name] !== undefined && args[name] !== false);
  if (other)
    throw new LeftoffError({
      code: "usage",
      message: `--${other} goes with --to ${formats}: a session for ${agent} is written where ${agent} looks for it`,
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

/** @param {string} path @param {string | AsyncIterable<string>} text */
async function writeNew(path, text) {
  try {
    const file = await open(path, "wx", 0o600);
    try {
      // Piece by piece: Bun's `writeFile` writes NUL behind pieces that have letters of several bytes.
      for await (const piece of typeof text === "string" ? [text] : text) await file.appendFile(piece);
    } finally {
      await file.close();
    }
  } catch (cause) {
    if (codeOf(cause) === "EEXIST")
      throw new LeftoffError({
        code: "already_exists",
        message: `could not write "${path}": it already exists`,
        cause,
      });
    // A partial file would be taken for the whole, and be in the way next time.
    const isBegun = cause instanceof LeftoffError || /** @type {NodeJS.ErrnoException} */ (cause).syscall === "write";
    if (isBegun) await rm(path, { force: true }).catch(() => {});
    if (cause instanceof LeftoffError) throw cause;
    throw fromSystemError(Object.assign(/** @type {Error} */ (cause), { path }));
  }
}
