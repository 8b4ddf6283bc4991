// @ts-check
/** What the model is told at a prompt: what other sessions say on it, that the user stops, or to offer a save. */

/** @import { ToldAtTurn } from "../types/index.js" */
/** How a command is typed in the client. @typedef {(name: "stop" | "resume") => string} NameCommand */

/** @param {ToldAtTurn | undefined} told @param {NameCommand} typed */
export function renderAnswer(told, typed) {
  return [told?.recalled, told?.offersSave ? offerSave(typed("stop")) : ""].filter(Boolean).join("\n\n") || undefined;
}

/** The text by which the model confirms that a session was paused. @param {NameCommand} typed */
export function confirmPause(typed) {
  return `leftoff: the user seems to stop for now, so this session was saved and is paused. Confirm it ("Session saved."), and say that ${typed("resume")} goes on with it later and that ${typed("stop")} saves it with a summary in your words. If the user did not mean to stop, just go on: it is active again then.`;
}

/** The text by which the model offers the user a save. @param {string} stop */
function offerSave(stop) {
  return `leftoff: 40 turns of this conversation were not saved. After your answer ask once: "Would you like me to save this session?" ${stop} does it. Who declines goes on, and is not asked again.`;
}
