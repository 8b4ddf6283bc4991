// @ts-check
/**
 * `leftoff hook`, which an agent's client runs at the turns of a conversation, as `leftoff init` set it up. Whatever
 * goes wrong here, the agent goes on: the failure is logged, once, and nothing else happens.
 */

import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { forgetFailure } from "../agents/failures.js";
import { LeftoffError } from "../index.js";
import { typedIn } from "../init/names.js";
import { codeOf } from "../storage/folders.js";

import { confirmPause, renderAnswer } from "../answers/prompts.js";
import { startRecording } from "./hooks/front.js";
import { asksForBrief, isCompaction, isPrompt, isRecordingOff, projectOf, promptOf, readInput } from "./hooks/input.js";
import { homeOf, keyOf, readKnowledge } from "./hooks/queue.js";
import {
  endSession,
  hasContent,
  logFailure,
  recordAlone,
  recordNow,
  rememberRecording,
  settingsMarks,
  withRecordingStore,
} from "./hooks/recorder.js";
import { settleInWorkspace } from "./in-agent.js";

/** @import { HookInput } from "./hooks/input.js" */
/** @import { Turn } from "./hooks/queue.js" */
/** @typedef {Record<string, any>} Args */
/** @typedef {import("../session/session.js").Session} Session */
/** @typedef {import("../store/store.js").Store} Store */
/** @param {Args} args */
export async function hook(args) {
  const silent = { text: "", value: null };
  /** @type {Partial<HookInput>} */
  let input = {};
  try {
    if (isRecordingOff()) return silent;
    input = parseInput(await readInput());
    const said = await handleEvent(args, /** @type {HookInput} */ (input));
    forgetFailure(homeOf(args.home), { agent: args.agent, project: projectOf(/** @type {HookInput} */ (input).cwd) });
    if (!said) return silent;
    const value = { hookSpecificOutput: { hookEventName: input.hook_event_name, additionalContext: said } };
    return { text: `${JSON.stringify(value)}\n`, value };
  } catch (error) {
    const { agent, home } = args;
    const isLogged = await logFailure({ agent, home }, { event: input.hook_event_name, cwd: input.cwd }, error);
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

/** @param {Args} args @param {HookInput} input @returns {Promise<string | undefined>} what the model should know */
async function handleEvent({ agent, home: asked, plugin }, input) {
  const { hook_event_name: event, transcript_path: path, cwd } = input;
  const turn = { agent, path, project: projectOf(cwd), event, isCounted: false };
  const home = homeOf(asked);
  const typed = (/** @type {"stop" | "resume"} */ name) => typedIn(agent, name, { plugin });
  const quoted = await answerBeforeRecording(home, { turn, input });
  if (quoted) return renderAnswer(quoted, typed);
  const settings = settingsMarks({ home, project: turn.project });
  return withRecordingStore({ home: asked, project: turn.project }, (store) => {
    const work = () => recordAndAnswer(store, { turn, input, settings, typed });
    return store.settings.record && hasContent(path)
      ? recordAlone(home, { key: keyOf(path), goesOn: isPrompt(input) }, work)
      : work();
  });
}

/**
 * @param {Store} store
 * @param {{ turn: Turn, input: HookInput, settings: [string, string][], typed: (name: "stop" | "resume") => string }} hooked
 */
async function recordAndAnswer(store, { turn, input, settings, typed }) {
  const wasDue = readKnowledge(store.home, turn)?.isOfferDue ?? false;
  const session = await recordNow(store, turn);
  const told = await askAtTurn(store, input, session?.id);
  if (!session) return told?.recalled || undefined;
  if (told && wasDue && isPrompt(input)) told.offersSave = true;
  rememberRecording(store, { turn, session, settings, isOfferDue: wasDue && !isPrompt(input) });
  if (turn.event === "SessionEnd") await endSession(session);
  // After a compaction the client has just forgotten most of the conversation.
  if (asksForBrief(input)) return (await session.brief()) || undefined;
  if (!isPrompt(input)) return undefined;
  return told?.wantsStop ? saveAndPause(store, session, { agent: turn.agent, typed }) : renderAnswer(told, typed);
}

/**
 * Asks what is to be said at a prompt of a conversation that is known, and leaves recording it to others; nothing where
 * the answer depends on what is recorded.
 * @param {string} home
 * @param {{ turn: Turn, input: HookInput }} asked
 */
async function answerBeforeRecording(home, { turn, input }) {
  const known = isPrompt(input) ? readKnowledge(home, turn) : undefined;
  if (!known || known.recall === "off" || known.isOfferDue) return undefined;
  const told = await withRecordingStore({ home, project: turn.project }, (store) =>
    askAtTurn(store, input, known.session),
  );
  return told && !told.wantsStop && startRecording(home, turn, { isRetried: true }) ? told : undefined;
}

/** @param {Store} store @param {HookInput} input @param {string | undefined} session its id */
async function askAtTurn(store, input, session) {
  if (!isPrompt(input) && !isCompaction(input)) return undefined;
  return store.turn(input.transcript_path, {
    prompt: promptOf(input),
    session,
    hasForgotten: isCompaction(input),
  });
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
  return confirmPause(typed);
}
