// @ts-check
/**
 * What a hook does before anything large is loaded: where nothing is to be answered, it hands the turn to a recorder in
 * a process of its own. In doubt it does nothing, and the whole hook runs.
 */

import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";

import { countQuietTurns, initSync } from "../../../pkg/turns.js";
import { asksForBrief, isCompaction, isPrompt, isRecordingOff, projectOf, promptOf, readInput } from "./input.js";
import { findHolder, takeLock } from "./lock.js";
import { homeOf, keyOf, lockFolder, pendingNames, queueTurn, readKnowledge, readReminder } from "./queue.js";

/** @import { HookInput } from "./input.js" */
/** @import { Knowledge, Turn } from "./queue.js" */

/** The word after `hook` by which a recorder is started; no agent is called so. */
export const RECORDER_WORD = "--queued";

/**
 * Takes a hook's work off its hands.
 * @param {string[]} words as they were typed after `hook`
 * @param {URL} module `turns.wasm`
 * @returns {Promise<boolean>} whether nothing is left to be done or said
 */
export async function handOver(words, module) {
  const { bun, deno } = process.versions;
  const [agent = "", ...others] = words;
  if (bun || deno || agent.startsWith("-") || others.some((word) => word !== "--plugin")) return false;
  if (isRecordingOff()) return true;
  const json = await readInput();
  try {
    /** @type {HookInput} */
    const input = JSON.parse(json);
    const { hook_event_name: event, transcript_path: path, cwd } = input;
    if (![event, path, cwd].every((field) => typeof field === "string")) return false;
    const turn = { agent, path, project: projectOf(cwd), event, isCounted: promptOf(input) !== undefined };
    const home = homeOf(undefined);
    const known = readKnowledge(home, turn);
    if (!known || mayBeAnswered(home, { input, known, module })) return false;
    return startRecording(home, turn, { isRetried: false });
  } catch {
    return false; // Whatever it is, the whole hook meets it, too, and knows whom to tell.
  }
}

/** @param {string} home @param {{ input: HookInput, known: Knowledge, module: URL }} asked */
function mayBeAnswered(home, { input, known, module }) {
  if (asksForBrief(input)) return true;
  if (known.recall !== "off" && (isPrompt(input) || isCompaction(input))) return true;
  const prompt = promptOf(input);
  if (prompt === undefined) return false;
  if (known.isOfferDue) return true;
  initSync({ module: readFileSync(module) });
  const quiet = countQuietTurns(prompt, readReminder(home, known.session));
  // Each that is queued may be one that is counted.
  return quiet <= pendingNames(home, keyOf(known.path)).length;
}

/**
 * Queues a turn, and starts who records it unless one is at work.
 * @param {string} home
 * @param {Turn} turn
 * @param {{ isRetried: boolean }} how whether a turn that a recorder has left is left to the next one, too
 * @returns {boolean} whether it will be recorded
 */
export function startRecording(home, turn, { isRetried }) {
  const key = keyOf(turn.path);
  const folder = lockFolder(home, key);
  if (!isRetried && pendingNames(home, key).length > 0 && !findHolder(folder)) return false;
  queueTurn(home, turn);
  // Looked for once the turn is queued: whoever has the lock now looks for turns after it has let go of it.
  if (findHolder(folder)) return true;
  const program = /** @type {string} */ (process.argv[1]);
  const recorder = spawn(process.execPath, [...process.execArgv, program, "hook", RECORDER_WORD, home, key], {
    cwd: home,
    detached: true,
    stdio: "ignore",
    windowsHide: true,
  });
  // Without a process the turn stays queued, and the next hook records it.
  recorder.on("error", () => {});
  recorder.unref();
  if (recorder.pid !== undefined) takeLock(folder, recorder.pid);
  return true;
}
