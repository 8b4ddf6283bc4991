// @ts-check
/** What an import adds to a session: what it does not hold yet, and answers that have grown since. */

import { called, fromBytes, toBytes } from "./core.js";
import { Log } from "./log.js";

/** @import { Session } from "./session.js" */
/** @import { Storage } from "./storage/contract.js" */

const BATCH = 256;

/**
 * @param {Storage} storage @param {Session} session @param {any[]} messages
 * @returns {Promise<any[]>}
 */
export async function notYetIn(storage, session, messages) {
  const log = new Log({ storage, folder: session.path, name: "Messages" });
  const size = await log.size();
  if (size === 0) return messages;
  const fresh = called((core) => new core.Fresh(toBytes(messages)));
  for await (const bytes of log.pieces(0, size)) called(() => fresh.feed(bytes));
  return fromBytes(called(() => fresh.finish()));
}

/**
 * Appends them, confirmed by the disk once for all. Nobody goes on with a session by that.
 * @param {Session} session @param {AsyncIterable<any> | Iterable<any>} messages
 */
export async function appendAll(session, messages) {
  /** @type {any[]} */
  let batch = [];
  const options = /** @type {const} */ ({ durability: "buffered", revives: false });
  for await (const message of messages) {
    batch.push(message);
    if (batch.length < BATCH) continue;
    await session.append(batch, options);
    batch = [];
  }
  if (batch.length > 0) await session.append(batch, options);
  await session.flush();
}
