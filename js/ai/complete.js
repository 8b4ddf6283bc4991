// @ts-check
/** Completes an answer of which a screen has saved the beginning, while it streamed, once a run has its end. */

import { readDrafts } from "../sdk/drafts.js";
import { parseJson } from "../sdk/originals.js";
import { goesOn, keyOf } from "./keys.js";
import { markStream, streamOf } from "./marks.js";
import { draftsOf, isStreaming, reviseRecords } from "./plan.js";
import { screens } from "./screen.js";

/** @import { Session } from "../session/session.js" */
/** @import { Draft, ReadMessage } from "../types/index.js" */
/** @import { AiMessage, AiUiMessage } from "../types/ai.js" */

/**
 * Saves as much of a screen's message as a run's message says.
 * @param {Session} session
 * @param {{ last: ReadMessage, expected: string | null }} end `last`: the path's last message, of a screen; `expected`:
 *   the id of the last one of all branches
 * @param {AiMessage} message what the run said
 * @returns {Promise<boolean>} whether the session's end has changed: false where the run says nothing more
 */
export async function completeScreen(session, { last, expected }, message) {
  if (message.role !== "assistant") return false;
  const [draft] = await readDrafts(message, { format: "ai-sdk", emptyText: "" });
  if (!draft || !goesOn(last, draft) || keyOf(last) === keyOf({ content: "", ...draft })) return false;
  const group = await readGroup(session, screens.idOf(last));
  // Another program may have said something in the middle of it.
  if (!group[0] || !screens.isHead(group[0])) return false;
  const whole = completeParts(screens.restore(group), last, draft);
  const stream = streamOf(group[0]);
  // What a run says the screen says again in its own words, and only that can be told as a stream.
  const drafts = markStream(await draftsOf(whole), stream && { ...stream, isAhead: true });
  const revisions = reviseRecords(group, drafts);
  if (revisions.length > 0) await session.append(revisions, { expected });
  return revisions.length > 0;
}

/** The records of a screen's message with which a session ends. @param {Session} session @param {string | undefined} id */
async function readGroup(session, id) {
  /** @type {ReadMessage[]} */
  const group = [];
  for await (const record of session.messages({ newestFirst: true })) {
    if (screens.idOf(record) !== id) break;
    group.unshift(record);
    if (screens.isHead(record)) break;
  }
  return group;
}

/**
 * A screen's message with what a step says beyond its last record.
 * @param {AiUiMessage} message @param {ReadMessage} record @param {Draft} draft
 * @returns {AiUiMessage}
 */
function completeParts({ parts: before, ...message }, { content }, { content: text = "", assistant }) {
  /** @type {any[]} */
  const parts = before.map((part) => (isStreaming(part) && "text" in part ? { ...part, state: "done" } : part));
  // Ids of calls may be the same in each step.
  const start = parts.findLastIndex(({ type }) => type === "step-start");
  const more = text.slice(content.length);
  const spoken = content === "" ? undefined : parts.findLast(({ type }) => type === "text");
  if (spoken) spoken.text += more;
  else if (more) parts.push({ type: "text", text: more, state: "done" });
  for (const { id, name, arguments: json } of assistant?.toolCalls ?? []) {
    const place = parts.findIndex(({ toolCallId }, at) => at > start && toolCallId === id);
    const known = parts[place] ?? { type: `tool-${name}`, toolCallId: id };
    if (known.state && !isStreaming(known)) continue;
    parts.splice(place < 0 ? parts.length : place, 1, {
      ...known,
      state: "input-available",
      input: parseJson(json) ?? json,
    });
  }
  return { ...message, parts };
}
