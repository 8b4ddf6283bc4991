// @ts-check
/** Many messages on their way into a session: of another session, or of an agent's file. */

import { agents, counterBeside } from "../wasm/agents.js";
import { isTalk } from "./continued.js";
import { entropy, nowMs } from "../wasm/clock.js";
import { fromBytes } from "../wasm/core.js";
import { isAmiss } from "../session/handle.js";

/** @import { Staging as StagingHandle, Transcript } from "../../pkg/agents.js" */
/** @import { Session } from "../session/session.js" */

/**
 * @typedef {{ handle: Transcript, at: number, count: number, countTokens: boolean, goesOn?: boolean, revives?: boolean, onBatch?: (count: number) => void }} Fresh
 *   `goesOn`: with a conversation that was begun elsewhere; `revives`: a paused session is active again with it; `onBatch`: of
 *   a new one, how many messages are about to be written
 */

const BATCH = 256;
/** How often a session may be moved while messages are on their way into it. */
const TRIES = 20;
/** Nobody goes on with a session by that, and the disk confirms all at once. */
const options = /** @type {const} */ ({ durability: "buffered", revives: false });

/**
 * Appends what a session does not hold yet of one in an agent's file, and answers that have grown since; how many
 * messages that were. What was said is folded by whoever takes the session up: of a hundred imports few are. Others may
 * import the same file meanwhile: nobody waits, and what each finds missing it appends until nothing is.
 * @param {Session} session @param {Fresh} from @returns {Promise<number>}
 */
export async function appendFresh(session, from) {
  for (let triesLeft = TRIES; ; triesLeft -= 1) {
    try {
      return await appendedFresh(session, from);
    } catch (error) {
      if (!isAmiss(error) || triesLeft === 0) throw error;
      // It was moved meanwhile: what is there by now is compared again.
      await session.look();
    }
  }
}

/** @param {Session} session @param {Fresh} from */
async function appendedFresh(session, { handle, at, count, countTokens, goesOn = false, revives = false, onBatch }) {
  const { log } = session;
  let added = 0;
  if ((await log.size()) === 0) {
    const { handle: staged, free } = agents.lent(() => handle.stage(at));
    const written = await session.appendStaged(new Staging(staged, countTokens, onBatch)).finally(free);
    added = count;
    if ((await log.size()) === written) {
      await session.flush({ learns: false });
      return added;
    }
  }
  agents.called(() => handle.compare(at, goesOn));
  for (let from = 0; ; ) {
    const size = await log.size();
    for await (const bytes of log.pieces(from, size)) agents.called(() => handle.feed(bytes));
    from = size;
    const batch = fromBytes(agents.called(() => handle.missing(BATCH)));
    if (batch.length === 0) break;
    // An answer to who stopped it is no going on.
    await session.appendCopies(batch, { ...options, revives: revives && batch.some((/** @type {any} */ one, /** @type {number} */ place) => isTalk(one, batch[place + 1])) });
    added += batch.length;
  }
  if (added > 0) await session.flush({ learns: false });
  return added;
}

/** The messages of a new log, staged where they were read: they need not cross into the core, which goes on from the checkpoint. */
export class Staging {
  #handle;
  #countTokens;
  #onBatch;

  /** @param {StagingHandle} handle @param {boolean} countTokens @param {(count: number) => void} [onBatch] */
  constructor(handle, countTokens, onBatch) {
    this.#handle = handle;
    this.#countTokens = countTokens;
    this.#onBatch = onBatch;
  }

  /** The bytes of the next batch; nothing where all are staged. */
  next() {
    this.#onBatch?.(BATCH);
    return agents.called(() => this.#handle.stage(BATCH, nowMs(), entropy(), counterBeside(), this.#countTokens));
  }

  blobs() { return agents.called(() => this.#handle.stagedBlobs()) ?? []; }

  checkpoint() { return agents.called(() => this.#handle.checkpoint()); }

  /** Takes what others appended meanwhile. @param {Uint8Array} bytes @param {number} offset */
  observe(bytes, offset) { agents.called(() => this.#handle.observe(bytes, offset)); }

  /** How far the log is observed. */
  end() { return agents.called(() => this.#handle.end()); }

  /** What was staged is in the log. @param {number} offset where, if nobody appended between */
  commit(offset) { agents.called(() => this.#handle.commit(offset)); }
}
