// @ts-check
/** The clients that are driven: those that CI drives, and the others, on demand. */

import { claudeCode } from "./claude-code.mjs";
import { codex } from "./codex.mjs";
import { copilot } from "./copilot.mjs";
import { gemini } from "./gemini.mjs";
import { opencode } from "./opencode.mjs";
import { pi } from "./pi.mjs";
import { qwen } from "./qwen.mjs";

/** @import { Client } from "./driving.mjs" */

/** @type {Client[]} */
export const IN_CI = [claudeCode, codex, opencode, gemini];

/** @type {Client[]} */
export const MORE = [qwen, copilot, pi];
