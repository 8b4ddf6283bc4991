// @ts-check
/**
 * What has to be written so that a session has a chat's messages: they are looked for from its beginning, in all
 * branches, and where they end the rest begins.
 */

import { readDrafts, takeDraft } from "../sdk/drafts.js";
import { isSameValue } from "../sdk/originals.js";
import { keepDetails } from "./details.js";
import { goesOn, keyOf } from "./keys.js";
import { keepStream, markStream, streamOf } from "./marks.js";
import { screens } from "./screen.js";
import { Tree } from "./tree.js";

/** @import { Session } from "../session/session.js" */
/** @import { Draft, ReadMessage } from "../types/index.js" */
/** @import { AiUiMessage } from "../types/ai.js" */
/** @import { MessageParts } from "./keys.js" */
/** @import { StreamMark } from "./marks.js" */

/** What is planned so far. */
class Plan {
  /** @type {Draft[]} */
  revisions = [];
  /** @type {Draft[]} */
  added = [];
  #tree;

  /** @param {Tree} tree */
  constructor(tree) {
    this.#tree = tree;
  }

  /** Adds drafts behind a message; the first ones of a plan may begin a branch. @param {Draft[]} drafts @param {string} at */
  add(drafts, at) {
    const [first, ...others] = drafts;
    if (!first) return;
    const isBranch = this.added.length === 0 && at !== this.#tree.leaf;
    this.added.push(isBranch ? { ...first, parentId: at, branch: true } : first, ...others);
  }

  /**
   * Makes the branch with the last message of the list the current one: where nothing is added behind it, it is written
   * once more.
   * @param {string} at
   */
  keepBranch(at) {
    const record = this.#tree.find(at);
    if (this.added.length > 0 || record?.onPath !== false) return;
    const revised = this.revisions.find(({ id }) => id === record.id) ?? reviseRecord(record, readDraft(record));
    this.revisions = [...this.revisions.filter((one) => one !== revised), revised];
  }

  /** @param {readonly ReadMessage[]} records @param {Draft[]} drafts */
  revise(records, drafts) {
    this.revisions.push(...reviseRecords(records, drafts));
  }
}

/** What a record says, as a draft. @param {ReadMessage} record @returns {Draft} */
export function readDraft(record) {
  const { source, partial } = record;
  return { ...takeDraft(record), ...(source && { source }), ...(partial && { partial }) };
}

/**
 * Revisions of records where a draft says something else.
 * @param {readonly ReadMessage[]} records @param {Draft[]} drafts
 */
export function reviseRecords(records, drafts) {
  return records.flatMap((record, place) => {
    const draft = drafts[place] && keepStream(record, keepDetails(record, drafts[place]));
    const isSame = !draft || isSameValue(JSON.parse(JSON.stringify(draft)), readDraft(record));
    return isSame ? [] : [reviseRecord(record, draft)];
  });
}

/** A record's next revision. @param {ReadMessage} record @param {Draft} draft @returns {Draft} */
const reviseRecord = ({ id, rev = 0, parentId }, draft) => ({
  ...draft,
  id,
  rev: rev + 1,
  ...(parentId && { parentId }),
});

/**
 * @param {Session} session @param {readonly AiUiMessage[]} messages
 * @param {StreamMark} [stream] the mark of the last one; as it is unless given
 * @returns {Promise<{ drafts: Draft[], expected: string | null }>} `expected`: the last message that was seen
 */
export async function planSave(session, messages, stream) {
  const tree = await Tree.read(session);
  const plan = new Plan(tree);
  let at = "";
  for (const [place, message] of messages.entries())
    at = await planMessage(tree, plan, { message, stream: place === messages.length - 1 ? stream : undefined }, at);
  plan.keepBranch(at);
  return { drafts: [...plan.revisions, ...plan.added], expected: tree.last };
}

/**
 * Plans one message, and answers the id of the record that it ends with.
 * @param {Tree} tree @param {Plan} plan @param {{ message: AiUiMessage, stream?: StreamMark | undefined }} saved
 * @param {string} at the record it follows
 */
async function planMessage(tree, plan, { message, stream }, at) {
  if (plan.added.length > 0) {
    plan.add(markStream(await draftsOf(message), stream), at);
    return at;
  }
  // A list may begin in the middle of the chat.
  const saved = tree.headsOf(message.id, at).map((head) => tree.groupOf(head));
  const same = saved.find((group) => isSameValue(screens.restore(group), message));
  if (same && isMarked(same, stream)) return same.at(-1)?.id ?? at;
  const drafts = markStream(await draftsOf(message), stream);
  for (const group of saved) {
    const records = extendGroup(tree, group, drafts);
    if (isGrown(records, drafts) && canGrow(tree, records, drafts)) return grow(plan, records, drafts);
    if (isLate(records, drafts)) return records.at(-1)?.id ?? at;
  }
  const [group] = saved;
  return group ? divide(plan, drafts, group) : planUnsaved(tree, plan, drafts, at);
}

/** Whether a message has a stream's mark already. @param {readonly ReadMessage[]} group @param {StreamMark | undefined} stream */
function isMarked([head], stream) {
  return stream === undefined || (head !== undefined && isSameValue(streamOf(head), stream));
}

/**
 * Plans a message that no screen has saved: it may be there as a run or the program has saved it.
 * @param {Tree} tree @param {Plan} plan @param {Draft[]} drafts @param {string} at
 */
function planUnsaved(tree, plan, drafts, at) {
  const loose = tree.findLoose(at);
  const isQuestion = drafts[0]?.role !== "assistant";
  for (let from = 0; from < loose.length; from += 1) {
    const found = loose.slice(from, from + countSame(loose.slice(from), drafts));
    if (isLate(found, drafts)) return found.at(-1)?.id ?? at;
    if (found.length > 0 && canGrow(tree, found, drafts)) return grow(plan, found, drafts);
  }
  // An answer takes the place of another one, a question comes after it; and the beginning of a chat stays.
  const last = at === "" ? tree.leaf : (isQuestion && loose.at(-1)?.id) || at;
  plan.add(drafts, last);
  return last;
}

/**
 * Adds to a message's records those after them that a run has saved of it.
 * @param {Tree} tree @param {ReadMessage[]} group @param {Draft[]} drafts
 */
function extendGroup(tree, group, drafts) {
  const loose = tree.findLoose(group.at(-1)?.id ?? "");
  return [...group, ...loose.slice(0, countSame(loose, drafts.slice(group.length)))];
}

/**
 * How many records at the front are those that the drafts begin with; of one that is open, the record may have more.
 * @param {ReadMessage[]} records @param {Draft[]} drafts
 */
function countSame(records, drafts) {
  const end = records.findIndex((record, place) => {
    const draft = drafts[place];
    return !draft || (keyOf(record) !== keyOf({ content: "", ...draft }) && !(isOpen(draft) && goesOn(draft, record)));
  });
  return end < 0 ? records.length : end;
}

/**
 * Whether messages go on with what others say.
 * @param {readonly MessageParts[]} before @param {readonly MessageParts[]} messages
 */
function isGrown(before, messages) {
  return (
    before.length <= messages.length &&
    before.every((message, place) => goesOn(message, /** @type {MessageParts} */ (messages[place])))
  );
}

/**
 * Whether an answer that still streams is behind what is stored of it: a run saves what it said before a screen shows it.
 * @param {readonly MessageParts[]} records @param {Draft[]} drafts
 */
function isLate(records, drafts) {
  const last = drafts.at(-1);
  return last !== undefined && isOpen(last) && !isGrown(records, drafts) && isGrown(drafts, records);
}

/** Whether an answer still streams, or says nothing yet. @param {Draft} draft */
function isOpen({ role, content, assistant, partial }) {
  return role === "assistant" && (partial === true || (!content && !assistant?.toolCalls?.length));
}

/**
 * Whether there is room for further records behind those that are there.
 * @param {Tree} tree @param {readonly ReadMessage[]} records @param {Draft[]} drafts
 */
function canGrow(tree, records, drafts) {
  return records.length === drafts.length || tree.findAfter(records.at(-1)?.id ?? "").length === 0;
}

/** Revises records, and adds what is more. @param {Plan} plan @param {readonly ReadMessage[]} records @param {Draft[]} drafts */
function grow(plan, records, drafts) {
  const last = records.at(-1)?.id ?? "";
  plan.revise(records, drafts);
  plan.add(drafts.slice(records.length), last);
  return last;
}

/**
 * Adds what stands in the place of another message, in a branch.
 * @param {Plan} plan @param {Draft[]} drafts @param {ReadMessage[]} group
 */
function divide(plan, drafts, group) {
  const first = /** @type {ReadMessage} */ (group[0]);
  if (first.parentId !== undefined) {
    plan.add(drafts, first.parentId);
    return first.parentId;
  }
  // No branch can begin before the first message: it is revised.
  plan.revise([first], drafts);
  plan.add(drafts.slice(1), first.id);
  return first.id;
}

/** The drafts that a screen's message is. @param {AiUiMessage} message */
export async function draftsOf(message) {
  const drafts = await readDrafts(message, { format: "ai-sdk-ui", emptyText: describeParts(message) });
  const last = drafts.at(-1);
  if (last && message.parts.some(isStreaming)) last.partial = true;
  return screens.attach(message.id, message, drafts);
}

/** Whether a part is still being said. @param {{ type: string, state?: string }} part */
export function isStreaming({ state }) {
  return state === "streaming" || state === "input-streaming";
}

/** What a user's message says that has no text: its data. @param {AiUiMessage} message */
function describeParts({ parts }) {
  const said = parts.filter(({ type }) => type.startsWith("data-"));
  return said.map(({ type, ...data }) => `[${type}] ${JSON.stringify(data)}`).join("\n\n") || "[no text]";
}
