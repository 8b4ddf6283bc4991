// @ts-check
/**
 * The transcripts of a store: `<project>/<session>.jsonl`, and `<project>/<session>/<sub-path>.jsonl`, as Claude Code
 * lays out its own.
 */

import { join } from "node:path";

import { refusal } from "../sdk/refusal.js";
import { decodeName, encodeName, isNamePart } from "./file-names.js";
import { Transcript, linesOf } from "./transcript.js";

/** @import { Storage } from "../storage/contract.js" */
/** @import { ClaudeSessionEntry, ClaudeSessionKey } from "../types/claude.js" */
/** @typedef {{ name: string, path: string }} FoundFile `name`: the text that its name stands for */
/** @typedef {{ sessionId: string, path: string, size: number, mtime: number }} FoundSession `size` in bytes */

const ENDING = ".jsonl";
const METADATA_ENDING = ".meta.json";
/** An entry that says by which call a sub-agent was begun. */
const METADATA_TYPE = "agent_metadata";
const encoder = new TextEncoder();
/** How many transcripts are remembered, so that they need not be read again before an append. */
const MAX_REMEMBERED = 100;

export class Transcripts {
  #storage;
  #root;
  /** @type {Map<string, Transcript>} used last comes last */
  #remembered = new Map();

  /** @param {Storage} storage @param {string} root */
  constructor(storage, root) {
    this.#storage = storage;
    this.#root = root;
  }

  /**
   * Where a transcript lies, and the folder of a session's other ones.
   * @param {ClaudeSessionKey} key
   */
  placeOf({ projectKey, sessionId, subpath }) {
    const names = [...encodeKey("projectKey", projectKey), ...encodeKey("sessionId", sessionId)];
    if (subpath === "") throw refusal("a sub-path that is not empty", subpath);
    if (subpath !== undefined) names.push(...checkText("subpath", subpath).split("/").flatMap(encodeName));
    const folder = join(this.#root, ...names);
    return { path: `${folder}${ENDING}`, folder };
  }

  /**
   * Answers what adds entries to a transcript, as they are now.
   * @param {ClaudeSessionKey} key @param {ClaudeSessionEntry[]} entries
   */
  prepareAppend(key, entries) {
    const { path, folder } = this.placeOf(key);
    const lines = linesOf(entries);
    // As Claude Code has it: which call began a sub-agent stands in a file beside its transcript.
    const about = key.subpath === undefined ? undefined : entries.findLast(({ type }) => type === METADATA_TYPE);
    const companion = about && encoder.encode(JSON.stringify({ ...about, type: undefined }));
    return async () => {
      await this.#transcriptAt(path).append(lines);
      if (companion) await this.#storage.replace(`${folder}${METADATA_ENDING}`, companion);
    };
  }

  /** All entries of a transcript; null where there are none. @param {ClaudeSessionKey} key */
  load(key) {
    return this.#transcriptAt(this.placeOf(key).path).load();
  }

  /** @param {string} path */
  #transcriptAt(path) {
    const transcript = this.#remembered.get(path) ?? new Transcript(this.#storage, path);
    this.#remembered.delete(path);
    this.#remembered.set(path, transcript);
    const [oldest = ""] = this.#remembered.keys();
    if (this.#remembered.size > MAX_REMEMBERED && !this.#remembered.get(oldest)?.isBusy)
      this.#remembered.delete(oldest);
    return transcript;
  }

  /** The folder of a project. @param {string} projectKey */
  folderOf(projectKey) {
    return join(this.#root, ...encodeKey("projectKey", projectKey));
  }

  /** The sessions of a project that have a transcript. @param {string} projectKey @returns {Promise<FoundSession[]>} */
  async sessionsOf(projectKey) {
    const sessions = [];
    for (const { name, path } of await this.#filesIn(this.folderOf(projectKey))) {
      const stat = await this.#storage.stat(path);
      if (stat && stat.size > 0)
        sessions.push({ sessionId: name, path, size: stat.size, mtime: Math.floor(stat.mtimeMs) });
    }
    return sessions;
  }

  /** The sub-paths that a session has transcripts of. @param {ClaudeSessionKey} key */
  async subpathsOf({ projectKey, sessionId }) {
    const { folder } = this.placeOf({ projectKey, sessionId });
    return this.#subpathsIn(folder);
  }

  /** Removes a transcript, and those of a session's sub-agents before it. @param {ClaudeSessionKey} key */
  async delete(key) {
    const { path, folder } = this.placeOf(key);
    await this.#transcriptAt(path).inTurn(async () => {
      await this.#storage.remove(key.subpath === undefined ? folder : `${folder}${METADATA_ENDING}`);
      await this.#storage.remove(path);
    });
  }

  /** @param {string} folder @param {string} [above] @returns {Promise<string[]>} */
  async #subpathsIn(folder, above = "") {
    const found = (await this.#filesIn(folder)).map(({ name }) => `${above}${name}`);
    for (const { name, path } of await this.#filesIn(folder, "folder"))
      found.push(...(await this.#subpathsIn(path, `${above}${name}/`)));
    return found;
  }

  /**
   * The transcripts in a folder, or the folders.
   * @param {string} folder @param {"file" | "folder"} [kind] @param {string[]} [names] of the parts of a name so far
   * @returns {Promise<FoundFile[]>}
   */
  async #filesIn(folder, kind = "file", names = []) {
    const found = [];
    for (const entry of (await this.#storage.list(folder)) ?? []) {
      const path = join(folder, entry.name);
      if (entry.kind === "folder" && isNamePart(entry.name)) {
        found.push(...(await this.#filesIn(path, kind, [...names, entry.name])));
      } else if (entry.kind === kind && (kind === "folder" || entry.name.endsWith(ENDING))) {
        const name = decodeName([...names, kind === "file" ? entry.name.slice(0, -ENDING.length) : entry.name]);
        // Somebody else's file has a name that stands for none.
        if (name !== undefined) found.push({ name, path });
      }
    }
    return found;
  }
}

/** @param {string} field @param {string} text */
function encodeKey(field, text) {
  return encodeName(checkText(field, text));
}

/** @param {string} field @param {string} text */
function checkText(field, text) {
  if (typeof text !== "string") throw refusal(`a text for "${field}"`, text);
  return text;
}
