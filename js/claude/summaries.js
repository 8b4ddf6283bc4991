// @ts-check
/**
 * What lists say of sessions, as the Claude Agent SDK makes it from their entries. It is made when a list is asked for,
 * of what came since the last one, and kept in a file of each project's folder: a cache, which can be made again. So
 * an append need not wait for it, and two processes cannot disagree on it: it always is that of a transcript's beginning.
 */

import { join } from "node:path";

import { START, parseEntries, readOn } from "./transcript.js";

/** @import { Storage } from "../storage/contract.js" */
/** @import { ClaudeSessionSummary, FoldClaudeSummary } from "../types/claude.js" */
/** @import { FoundSession } from "./transcripts.js" */
/** @typedef {{ end: number, tail: string, summary: ClaudeSessionSummary }} KnownSummary of so many bytes of a transcript */

/** No transcript has this name. */
const FILE = "summaries.json";

export class Summaries {
  #storage;
  #fold;

  /** @param {Storage} storage @param {FoldClaudeSummary} fold */
  constructor(storage, fold) {
    this.#storage = storage;
    this.#fold = fold;
  }

  /**
   * The summaries of a project's sessions.
   * @param {string} projectKey @param {string} folder the project's @param {FoundSession[]} sessions
   */
  async of(projectKey, folder, sessions) {
    const known = await this.#readKnown(folder);
    /** @type {Map<string, KnownSummary>} */
    const made = new Map();
    let hasChanged = sessions.length !== known.size;
    for (const session of sessions) {
      const before = known.get(session.sessionId);
      const now = isCurrent(before, session) ? before : await this.#extend(projectKey, session, before);
      hasChanged ||= now !== before;
      if (now) made.set(session.sessionId, now);
    }
    if (hasChanged) await this.#write(folder, made);
    return Array.from(made.values(), ({ summary }) => summary);
  }

  /** Forgets a session that is deleted. @param {string} folder @param {string} sessionId */
  async forget(folder, sessionId) {
    const known = await this.#readKnown(folder);
    if (known.delete(sessionId)) await this.#write(folder, known);
  }

  /**
   * @param {string} projectKey @param {FoundSession} session @param {KnownSummary} [known]
   * @returns {Promise<KnownSummary | undefined>} nothing where no entry is whole
   */
  async #extend(projectKey, { sessionId, path, mtime }, known) {
    const from = known ? { end: known.end, tail: Buffer.from(known.tail, "base64") } : START;
    const { isOther, added, read } = await readOn(this.#storage, path, from);
    const entries = Array.from(parseEntries(added));
    const before = isOther ? undefined : known?.summary;
    if (!before && entries.length === 0) return undefined;
    const summary = this.#fold(before, { projectKey, sessionId }, entries);
    return { end: read.end, tail: Buffer.from(read.tail).toString("base64"), summary: { ...summary, mtime } };
  }

  /** @param {string} folder @returns {Promise<Map<string, KnownSummary>>} */
  async #readKnown(folder) {
    const bytes = await this.#storage.read(join(folder, FILE));
    try {
      return new Map(bytes ? JSON.parse(new TextDecoder().decode(bytes)) : []);
    } catch {
      return new Map(); // A damaged cache is made again.
    }
  }

  /** @param {string} folder @param {Map<string, KnownSummary>} known */
  async #write(folder, known) {
    const bytes = new TextEncoder().encode(JSON.stringify([...known]));
    await this.#storage.replace(join(folder, FILE), bytes, { durable: false });
  }
}

/** Whether nothing was written since. @param {KnownSummary | undefined} known @param {FoundSession} session */
function isCurrent(known, { size, mtime }) {
  return known !== undefined && known.end === size && known.summary.mtime === mtime;
}
