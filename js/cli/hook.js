// @ts-check
/**
 * `leftoff hook`, which an agent's client runs at the turns of a conversation, as `leftoff init` set it up. Whatever
 * goes wrong here, the agent goes on: the failure is logged, once, and nothing else happens.
 */

import { createHash } from "node:crypto";
import { statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { text } from "node:stream/consumers";

import { bytesOf, textOf } from "../wasm/core.js";
import { LeftoffError, NodeStorage, openStore } from "../index.js";
import { typedIn } from "../init/names.js";
import { codeOf } from "../storage/folders.js";
import { isFolder } from "../storage/real-path.js";

import { recordConversation, settleInWorkspace } from "./in-agent.js";
import { escapeControls } from "./print.js";

/** @typedef {Record<string, any>} Args */
/** @typedef {import("../session/session.js").Session} Session */
/** @typedef {import("../store/store.js").Store} Store */
/**
 * @typedef {{ hook_event_name: string, transcript_path: string, cwd: string, prompt?: string, source?: string }}
 *   HookInput the input from a client; all clients' is alike
 */

const PROMPT_EVENTS = ["UserPromptSubmit", "BeforeAgent"];
/** The events at which a client has forgotten most of the conversation, or is about to. */
const COMPACTION_EVENTS = ["PreCompact", "PostCompact", "PreCompress"];

/** @param {Args} args */
export async function hook(args) {
  const silent = { text: "", value: null };
  /** @type {Partial<HookInput>} */
  let input = {};
  try {
    // Runs that `leftoff ask` starts are recorded by it, not here.
    if (process.env.LEFTOFF_ASK || /^(?:off|false|no|0)$/i.test(process.env.LEFTOFF_RECORD ?? "")) return silent;
    input = parseInput(await text(process.stdin));
    const said = await handleEvent(args, /** @type {HookInput} */ (input));
    if (!said) return silent;
    const value = { hookSpecificOutput: { hookEventName: input.hook_event_name, additionalContext: said } };
    return { text: `${JSON.stringify(value)}\n`, value };
  } catch (error) {
    const isLogged = await logFailure(args, input, error);
    return isLogged || !isFirstFailure(args, input) ? silent : failureMessage(error);
  }
}

/** The message that the client shows to the user, who has no other way to learn of a failure. @param {unknown} error */
function failureMessage(error) {
  const value = {
    systemMessage: `leftoff: this conversation is not recorded: ${error instanceof Error ? error.message : error}`,
  };
  return { text: `${JSON.stringify(value)}\n`, value };
}

// Remembered in the system's temporary folder: the home may be what cannot be written.
/** @param {Args} args @param {Partial<HookInput>} input whether it is the first failure of this conversation */
function isFirstFailure({ home = process.env.LEFTOFF_HOME ?? "" }, { transcript_path: path, cwd }) {
  const name = createHash("sha256")
    .update(JSON.stringify([home, path ?? cwd ?? ""]))
    .digest("hex")
    .slice(0, 32);
  try {
    writeFileSync(join(tmpdir(), `leftoff-told-${name}`), "", { flag: "wx", mode: 0o600 });
    return true;
  } catch (error) {
    return codeOf(error) !== "EEXIST";
  }
}

/** @param {string} json @returns {HookInput} */
function parseInput(json) {
  const input = parseJson(json);
  for (const field of ["hook_event_name", "transcript_path", "cwd"]) {
    if (typeof input?.[field] === "string") continue;
    throw new LeftoffError({
      code: "usage",
      message: `expected the client's JSON on standard input to have "${field}", but found none`,
    });
  }
  return input;
}

/** @param {string} json */
function parseJson(json) {
  try {
    return JSON.parse(json);
  } catch (cause) {
    throw new LeftoffError({
      code: "usage",
      message: "expected the client's JSON on standard input, but found something else",
      cause,
    });
  }
}

/**
 * A folder, or the nearest one above it that exists: an agent may have removed the one it works in.
 * @param {string} path
 */
function existingFolder(path) {
  let folder = resolve(path);
  while (!isFolder(folder) && folder !== dirname(folder)) folder = dirname(folder);
  return folder;
}

/** @param {Args} args @param {HookInput} input @returns {Promise<string | undefined>} what the model should know */
async function handleEvent(
  { agent, home, plugin },
  { hook_event_name: event, transcript_path: path, cwd, prompt = "", source },
) {
  const store = await openStore({
    home,
    project: existingFolder(process.env.CLAUDE_PROJECT_DIR || process.env.GEMINI_PROJECT_DIR || cwd),
  });
  try {
    const [unclear] = store.problems;
    if (unclear && !store.settings.record) throw new LeftoffError({ ...unclear });
    const session =
      store.settings.record && hasContent(path) ? await recordConversation(store, { agent, path }) : undefined;
    const [isPrompt, isCompacted] = [
      PROMPT_EVENTS.includes(event),
      COMPACTION_EVENTS.includes(event) || source === "compact",
    ];
    const told =
      isPrompt || isCompacted
        ? await store.turn(path, {
            prompt: isPrompt && typeof prompt === "string" ? prompt : undefined,
            session: session?.id,
            hasForgotten: isCompacted,
          })
        : undefined;
    if (!session) return told?.recalled || undefined;
    if (event === "SessionEnd" && session.metadata.lifecycle === "active") await session.stop();
    // After a compaction the client has just forgotten most of the conversation.
    if (event === "SessionStart") return source === "compact" ? (await session.brief()) || undefined : undefined;
    if (!isPrompt) return undefined;
    const typed = (/** @type {"stop" | "resume"} */ name) => typedIn(agent, name, { plugin });
    if (told?.wantsStop) return await saveAndPause(store, session, { agent, typed });
    return [told?.recalled, told?.offersSave ? offerSave(typed("stop")) : ""].filter(Boolean).join("\n\n") || undefined;
  } finally {
    await store.close();
  }
}

// Whether there is a record: before the first turn there may be none.
/** @param {string} path */
function hasContent(path) {
  return (statSync(path, { throwIfNoEntry: false })?.size ?? 0) > 0;
}

/**
 * Saves and pauses the session of a user who says that they stop. A wrong guess costs nothing: going on makes it active
 * again.
 * @param {Store} store
 * @param {Session} session
 * @param {{ agent: string, typed: (name: "stop" | "resume") => string }} by
 */
async function saveAndPause(store, session, { agent, typed }) {
  if (session.metadata.lifecycle === "active") {
    const paused = await settleInWorkspace(store, session, agent);
    await paused.stop();
  }
  return `leftoff: the user seems to stop for now, so this session was saved and is paused. Confirm it ("Session saved."), and say that ${typed("resume")} goes on with it later and that ${typed("stop")} saves it with a summary in your words. If the user did not mean to stop, just go on: it is active again then.`;
}

/** The text by which the model offers the user a save. @param {string} stop */
function offerSave(stop) {
  return `leftoff: 40 turns of this conversation were not saved. After your answer ask once: "Would you like me to save this session?" ${stop} does it. Who declines goes on, and is not asked again.`;
}

/**
 * Logs a failure; answers whether that worked.
 * @param {Args} args
 * @param {Partial<HookInput>} input
 * @param {any} error
 */
async function logFailure({ agent, home: folder }, { hook_event_name: event = "?", cwd }, error) {
  const storage = new NodeStorage();
  try {
    const store = await openStore({ home: folder, project: existingFolder(cwd ?? "") });
    const path = join(store.home, "hooks.log");
    const failure = {
      agent,
      event,
      code: error?.code ?? error?.name ?? "error",
      message: String(error?.message ?? error),
    };
    // Names and texts come from others: as JSON none of them begins a line, and what steers a terminal is escaped.
    const { value } = await store.redacted(failure).finally(() => store.close());
    const line = `${escapeControls(JSON.stringify(value))}\n`;
    const known = await storage.read(path);
    if (known && `\n${textOf(known)}`.includes(`\n${line}`)) return true;
    await storage.append(path, bytesOf(line));
    return true;
  } catch {
    return false; // The home itself fails: the user is told in another way.
  } finally {
    await storage.close();
  }
}
