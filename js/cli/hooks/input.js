// @ts-check
/** What a client hands a hook: its JSON on standard input, and what its events mean. */

import { readSync } from "node:fs";

/**
 * @typedef {{ hook_event_name: string, transcript_path: string, cwd: string, prompt?: string, source?: string }}
 *   HookInput the input from a client; all clients' is alike
 */

const PROMPT_EVENTS = ["UserPromptSubmit", "BeforeAgent"];
/** The events at which a client has forgotten most of the conversation, or is about to. */
const COMPACTION_EVENTS = ["PreCompact", "PostCompact", "PreCompress"];
const STANDARD_INPUT = 0;
const PART_BYTES = 64 * 1024;

/** @type {Promise<string> | undefined} */
let given;

/** Reads standard input, once: later calls get the same text. */
export function readInput() {
  return (given ??= readStandardInput());
}

// At once where the system lets it: a stream takes longer to be made than the text to be read.
async function readStandardInput() {
  const parts = [];
  try {
    for (;;) {
      const part = Buffer.allocUnsafe(PART_BYTES);
      const length = readSync(STANDARD_INPUT, part);
      if (length === 0) return Buffer.concat(parts).toString();
      parts.push(part.subarray(0, length));
    }
  } catch {
    // Nothing has come yet, and the system does not wait; or it ends by an error, as on Windows.
    for await (const part of process.stdin) parts.push(part);
    return Buffer.concat(parts).toString();
  }
}

/** Whether nothing is recorded here. Runs that `leftoff ask` starts are recorded by it. */
export function isRecordingOff() {
  const { LEFTOFF_ASK, LEFTOFF_RECORD = "" } = process.env;
  return Boolean(LEFTOFF_ASK) || /^(?:off|false|no|0)$/i.test(LEFTOFF_RECORD);
}

/** The folder that a client works in, as it says. @param {string} cwd */
export function projectOf(cwd) {
  return process.env.CLAUDE_PROJECT_DIR || process.env.GEMINI_PROJECT_DIR || cwd;
}

/** @param {Pick<HookInput, "hook_event_name">} input */
export function isPrompt({ hook_event_name: event }) {
  return PROMPT_EVENTS.includes(event);
}

/** What was typed; nothing at other events. @param {HookInput} input */
export function promptOf(input) {
  const { prompt = "" } = input;
  return isPrompt(input) && typeof prompt === "string" ? prompt : undefined;
}

/** @param {HookInput} input */
export function isCompaction({ hook_event_name: event, source }) {
  return COMPACTION_EVENTS.includes(event) || source === "compact";
}

/** Whether the model is told what the conversation came to. @param {HookInput} input */
export function asksForBrief({ hook_event_name: event, source }) {
  return event === "SessionStart" && source === "compact";
}
