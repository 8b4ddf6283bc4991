// @ts-check
/** Reads files that arguments name, and the agent's fields as they are typed. */

import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";

import { refuseBug } from "../error.js";
import { LeftoffError } from "../index.js";
import { codeOf } from "../storage/folders.js";
import { toStorageError } from "../storage/system-errors.js";

/** @typedef {import("../session/session.js").Session} Session */
/** @typedef {import("../types/index.js").Agent} Agent */

/** @param {string} path */
export async function readFileBytes(path) {
  try {
    return await readFile(path);
  } catch (cause) {
    throw codeOf(cause) === "ENOENT"
      ? new LeftoffError({ code: "not_found", message: `no file "${path}"`, cause })
      : toStorageError("read", path, cause, { hasRoot: false });
  }
}

/** @param {string} path */
export async function readFileText(path) {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(await readFileBytes(path));
  } catch (cause) {
    if (cause instanceof LeftoffError) throw cause;
    throw new LeftoffError({ code: "usage", message: `"${path}" is not UTF-8 text`, cause });
  }
}

/** @param {string} path */
export async function readFileJson(path) {
  try {
    return JSON.parse(await readFileText(path));
  } catch (cause) {
    if (cause instanceof LeftoffError) throw cause;
    const found = cause instanceof Error ? cause.message : String(cause);
    throw new LeftoffError({ code: "usage", message: `"${path}" is not JSON: ${found}`, cause });
  }
}

/**
 * Parses the agent's fields; nothing where none is typed.
 * @param {{ command?: string, prompt?: string, model?: string, tools?: string }} args `prompt`: a file; `tools`: names
 *   with commas between them
 * @returns {Promise<Agent | undefined>}
 */
export async function parseAgent({ command, prompt, model, tools }) {
  const agent = {
    ...(command && { command }),
    ...(prompt && { systemPromptHash: hashOf(await readFileBytes(prompt)), promptFile: resolve(prompt) }),
    ...(model && { model }),
    ...(tools !== undefined && {
      tools: tools
        .split(",")
        .map((name) => name.trim())
        .filter(Boolean),
    }),
  };
  return Object.keys(agent).length > 0 ? agent : undefined;
}

/** @param {Uint8Array} bytes */
function hashOf(bytes) {
  return `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
}

/**
 * The hash of a session's prompt file as it is now: null where the file is gone, nothing where it cannot be read.
 * @param {string} path @returns {Promise<string | null | undefined>}
 */
export async function promptHashOf(path) {
  try {
    return hashOf(await readFileBytes(path));
  } catch (error) {
    refuseBug(error);
    return error instanceof LeftoffError && error.code === "not_found" ? null : undefined;
  }
}

/**
 * The session's agent, with the typed fields over it.
 * @param {Session} session
 * @param {Parameters<typeof parseAgent>[0]} args
 */
export async function updateTypedAgent(session, args) {
  const typed = await parseAgent(args);
  if (typed) await session.updateAgent(typed);
}
