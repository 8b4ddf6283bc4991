// @ts-check
/** The clients that are driven: those that CI drives, and the others, on demand; and which of them this machine has. */

import { claudeCode } from "./claude-code.mjs";
import { codex } from "./codex.mjs";
import { copilot } from "./copilot.mjs";
import { gemini } from "./gemini.mjs";
import { lookPinned, pinnedVersion } from "./install.mjs";
import { opencode } from "./opencode.mjs";
import { pi } from "./pi.mjs";
import { qwen } from "./qwen.mjs";

/** @import { Client } from "./driving.mjs" */

/** A client that this machine has. @typedef {{ client: Client, program: string, version: string }} Present */

/** @type {Client[]} */
export const IN_CI = [claudeCode, codex, opencode, gemini];

/** @type {Client[]} */
export const MORE = [qwen, copilot, pi];

/** Those that are asked for. @param {{ all: boolean }} options */
export function selectClients({ all }) {
  return all ? [...IN_CI, ...MORE] : IN_CI;
}

/** Those of them that this machine has, as they are pinned. @param {Client[]} clients @returns {Present[]} */
export function present(clients) {
  return clients.flatMap((client) => {
    const program = client.program(lookPinned);
    return program === null ? [] : [{ client, program, version: pinnedVersion(client.package) }];
  });
}
