// @ts-check
/** Asks leftoff's command line in a child process: what reads much must not hold up the other extensions. */

import { spawn } from "node:child_process";

import { LeftoffError } from "../index.js";
import { workspace } from "vscode";

import { commandLine, openFolder } from "./host.node.js";

/** @import { ExtensionContext } from "vscode" */

/** The command line's arguments for the store that the extension has open. */
export function storeArguments() {
  const home = workspace.getConfiguration("leftoff").get("home");
  return [...(home ? [`--home=${home}`] : []), `--workspace=${openFolder()}`];
}

/**
 * Gives what a command answers with `--json`.
 * @param {ExtensionContext} context @param {string[]} args @param {AbortSignal} signal ends it
 * @returns {Promise<any>}
 */
export async function askCommandLine(context, args, signal) {
  const { path, env } = commandLine(context);
  const typed = [path, ...args, "--json", ...storeArguments()];
  const child = spawn(process.execPath, typed, {
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "pipe"],
    signal,
  });
  const [answer, notes] = await Promise.all([readText(child.stdout), readText(child.stderr), endOf(child)]);
  if (answer) return JSON.parse(answer);
  const errors = notes.split("\n").filter((line) => line.startsWith('{"error"'));
  throw new LeftoffError(errors[0] ? JSON.parse(errors[0]).error : { code: "internal", message: notes });
}

/** @param {AsyncIterable<Buffer>} stream */
async function readText(stream) {
  const pieces = [];
  for await (const piece of stream) pieces.push(piece);
  return Buffer.concat(pieces).toString();
}

/** @param {import("node:child_process").ChildProcess} child @returns {Promise<void>} */
const endOf = (child) =>
  new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", () => resolve());
  });
