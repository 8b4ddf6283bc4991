// @ts-check
/** Saves an answer of the AI SDK. */

import { checkObject, refusal } from "../sdk/refusal.js";
import { saveNew, saveSteps } from "./steps.js";

/** @import { Session } from "../session/session.js" */
/** @import { AiAnswer, AiMessage } from "../types/ai.js" */

/**
 * Makes what saves an answer into a session, for `onEnd` (`onFinish` in version 6) and `onAbort`: the steps that
 * `contextFor` has not saved already. Called with the same answer again, it changes nothing.
 * @param {Session} session
 * @returns {(answer: AiAnswer) => Promise<void>} takes the event, the result of `generateText` or `streamText`, also
 *   one that is still streaming, or its response messages
 * @throws {LeftoffError} `invalid_request` for what is no session, and from what it makes for what is no answer; what
 *   `append` throws
 * @example
 * await session.append({ role: "user", content: "What is left to do?" });
 * const steps = [{ response: { messages: [{ role: "assistant", content: "Nothing." }] } }];
 * await saveAnswer(session)({ steps });
 * await saveAnswer(session)({ steps });
 * session.metadata.stats.messageCount; // => 2
 */
export function saveAnswer(session) {
  checkObject(session, "append", "a session");
  return async (answer) => {
    if (Array.isArray(answer)) return saveNew(session, answer.map(checkMessage));
    const steps = await Object(answer).steps;
    if (!Array.isArray(steps)) throw refusal("an answer of the AI SDK with its steps, or its messages", answer);
    await saveSteps(session, steps);
  };
}

/** @param {AiMessage} message */
function checkMessage(message) {
  const { role, content } = Object(message);
  if (typeof role !== "string" || (typeof content !== "string" && !Array.isArray(content)))
    throw refusal("a message of the AI SDK with a role and a content", message);
  return message;
}
