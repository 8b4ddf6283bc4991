// @ts-check
/**
 * Keeps sessions of the Claude Agent SDK, as its option `sessionStore`, and records each in a store of leftoff, where it
 * is a session like others: listed, searched, and resumed in other agents.
 */

import { join } from "node:path";

import { NodeStorage } from "../index.js";
import { checkObject, refusal } from "../sdk/refusal.js";
import { Marks } from "./marks.js";
import { Recorder } from "./recorder.js";
import { Summaries } from "./summaries.js";
import { Transcripts } from "./transcripts.js";

/**
 * @typedef {import("../types/claude.js").ClaudeSessionEntry} ClaudeSessionEntry
 * @typedef {import("../types/claude.js").ClaudeSessionKey} ClaudeSessionKey
 * @typedef {import("../types/claude.js").ClaudeSessionStore} ClaudeSessionStore
 * @typedef {import("../types/claude.js").ClaudeSessionStoreOptions} ClaudeSessionStoreOptions
 * @typedef {import("../types/claude.js").ClaudeSessionSummary} ClaudeSessionSummary
 * @typedef {import("../types/claude.js").FoldClaudeSummary} FoldClaudeSummary
 */

/** The folder of transcripts in a store's home. */
const FOLDER = "claude-agent";
/** No project's folder has this name. */
const MARKS_FOLDER = "unrecorded.d";
const OPTIONS = ["store", "foldSessionSummary", "storage", "report"];

/**
 * Makes a `sessionStore` for the Claude Agent SDK. Entries are kept as they are; an append resolves once they are on the
 * disk, and rejects with `disk_full` or another code of the storage, whereupon the SDK tries again. What is said is
 * recorded in the store in the background.
 * @param {ClaudeSessionStoreOptions} options
 * @returns {ClaudeSessionStore}
 * @throws {LeftoffError} `invalid_request` for options that cannot be meant
 * @example
 * const sessions = sessionStore({ store });
 * const key = { projectKey: "parser", sessionId: "5f0d5a1e-9a41-4b58-8f0f-1c86a0c6f3d2" };
 * const message = { role: "user", content: "Rename the parser." };
 * await sessions.append(key, [{ type: "user", uuid: "u1", sessionId: key.sessionId, message }]);
 * await sessions.flush();
 * const session = await store.session({ source: { agent: "claude-code", id: key.sessionId } });
 * session.metadata.stats.messageCount; // => 1
 * await sessions.close();
 */
export function sessionStore(options) {
  const { store, foldSessionSummary, storage, report } = checkOptions(options);
  const root = join(store.home, FOLDER);
  const files = storage ?? new NodeStorage({ root });
  const transcripts = new Transcripts(files, root);
  const marks = new Marks(files, join(root, MARKS_FOLDER));
  const recorder = new Recorder(store, { marks, pathOf: (key) => transcripts.placeOf(key).path, report });
  const summaries = foldSessionSummary && new Summaries(files, foldSessionSummary);
  /** @type {ClaudeSessionStore} */
  const sessions = {
    async append(key, entries) {
      const append = transcripts.prepareAppend(key, entries);
      if (entries.length > 0) await recorder.afterChange(key, append);
    },
    async load(key) {
      return transcripts.load(key);
    },
    async listSessions(projectKey) {
      const found = await transcripts.sessionsOf(projectKey);
      return found.map(({ sessionId, mtime }) => ({ sessionId, mtime }));
    },
    async delete(key) {
      await transcripts.delete(key);
      if (key.subpath === undefined) await summaries?.forget(transcripts.folderOf(key.projectKey), key.sessionId);
    },
    async listSubkeys(key) {
      return transcripts.subpathsOf(key);
    },
    async flush() {
      await recorder.flush();
    },
    async close() {
      await recorder.flush().finally(() => (storage ? undefined : files.close()));
    },
    async [Symbol.asyncDispose]() {
      await sessions.close();
    },
  };
  if (summaries)
    sessions.listSessionSummaries = async (projectKey) =>
      summaries.of(projectKey, transcripts.folderOf(projectKey), await transcripts.sessionsOf(projectKey));
  return sessions;
}

/** @param {ClaudeSessionStoreOptions} options */
function checkOptions(options) {
  const unknown = Object.keys(Object(options)).find((name) => !OPTIONS.includes(name));
  if (unknown !== undefined) throw refusal(`only the options ${OPTIONS.join(", ")}`, unknown);
  checkObject(options?.store, "record", 'a store for "store"');
  for (const name of /** @type {const} */ (["foldSessionSummary", "report"]))
    if (options[name] !== undefined && typeof options[name] !== "function")
      throw refusal(`a function for "${name}"`, options[name]);
  return options;
}
