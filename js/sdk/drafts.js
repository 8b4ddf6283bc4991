// @ts-check
/**
 * Reads a library's message as the messages to store that it is: an answer may be one for each step, and one for each
 * result. The core reads it, in a session of its own in memory.
 */

import { MemoryStorage, openStore } from "../index.js";

/** @import { Session } from "../session/session.js" */
/** @import { Draft, Format, ReadMessage } from "../types/index.js" */

/** How many messages are read in one session: what it has read stays in memory. */
const MAX_READ = 200;

/** @type {Promise<Session> | undefined} */
let reading;
let readCount = 0;

/**
 * @param {object} message
 * @param {{ format: Format, emptyText: string }} how `emptyText`: for a user's message that has no text
 * @returns {Promise<Draft[]>} one at least
 */
export async function readDrafts(message, { format, emptyText }) {
  if (readCount++ % MAX_READ === 0) reading = openReader();
  const session = await /** @type {Promise<Session>} */ (reading);
  const { records } = await session.append(/** @type {any} */ (message), { format }).catch((error) => {
    if (error?.code !== "empty_message") throw error;
    return session.append({ role: "user", content: emptyText });
  });
  const last = records.at(-1)?.id;
  // Large texts and files are not in what an append answers.
  const isLarge = JSON.stringify(records).includes('"blob":');
  return (isLarge && last ? await readNewest(session, last, records.length) : records).map(takeDraft);
}

async function openReader() {
  const store = await openStore({ home: "/leftoff", project: "/", storage: new MemoryStorage(), countTokens: false });
  return store.create();
}

/** @param {Session} session @param {string} leaf @param {number} count */
async function readNewest(session, leaf, count) {
  /** @type {ReadMessage[]} */
  const found = [];
  for await (const message of session.messages({ newestFirst: true, leaf })) {
    found.unshift(message);
    if (found.length === count) break;
  }
  return found;
}

/** A stored message without what only storage needs. @param {any} record @returns {Draft} */
export function takeDraft({ role, content, tool, assistant, attachments }) {
  return {
    role,
    content,
    ...(tool && { tool }),
    ...(assistant && { assistant }),
    ...(attachments && { attachments }),
  };
}
