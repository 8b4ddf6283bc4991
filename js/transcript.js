// @ts-check
/** An agent's transcript, read and not stored. */

import { readFile } from "node:fs/promises";

import { agents } from "./agents.js";
import { fromBytes } from "./core.js";
import { LeftoffError } from "./error.js";
import { Session } from "./session.js";
import { MemoryStorage } from "./storage/memory.js";

/** @import { Transcript as Handle } from "../pkg/agents.js" */
/** @import { ContextBuildResult, ContextRequest, Format } from "./types/index.js" */

/**
 * @typedef {{ id: string, agent: string, sourceId: string, parent: any, fork: { session: string, messageId: string } | null, title: string | null, folder: string | null,
 *   model: string | null, tools: string[], losses: { field: string, count: number, why: string }[], messageCount: number, created: string | null, lastTimestamp: string | null }} ReadSession
 *
 * @typedef {object} Parsed
 * @property {ReadSession[]} sessions
 * @property {boolean} isAboutStore it may hold a resume block, or commands that are about the store
 * @property {any[]} problems
 * @property {Handle} handle
 * @property {() => void} free gives back the messages; for who is done with the handle
 */

/**
 * What an agent's file holds. The messages stay in the module, behind the handle: most go from there into a log.
 * @param {Uint8Array} bytes
 * @param {string} path
 * @param {string} [from] the agent; the content tells unless given
 * @param {Uint8Array} [beside] what the agent says of it in another file
 * @returns {Parsed}
 */
export function parse(bytes, path, from, beside) {
  const { handle, free } = agents.lent(({ Transcript }) => new Transcript(bytes, path.replaceAll("\\", "/"), from, beside));
  try {
    return { ...fromBytes(agents.called(() => handle.about())), handle, free };
  } catch (error) {
    free();
    throw error;
  }
}

/**
 * Reads a transcript of any known agent. Nothing is stored.
 * @param {string | Uint8Array | Blob} file a path, or the bytes
 */
export async function readTranscript(file) {
  const { sessions: [first], problems, handle, free } = parse(await bytesOf(file), typeof file === "string" ? file : "transcript.jsonl");
  try {
    const { messageCount, created, lastTimestamp, ...session } = /** @type {ReadSession} */ (first);
    return new Transcript(session, fromBytes(agents.called(() => handle.messages(0, 0, messageCount))), problems);
  } finally {
    free();
  }
}

export class Transcript {
  #messages;

  /** @param {Omit<ReadSession, "messageCount" | "created" | "lastTimestamp">} session @param {any[]} messages @param {any[]} problems */
  constructor(session, messages, problems) {
    this.#messages = messages;
    /** What the transcript says of itself. */
    this.session = session;
    /** What could not be read. */
    this.problems = problems;
  }

  /** How many messages it has. */
  get length() {
    return this.#messages.length;
  }

  /** Messages from `start` up to but not including `end`. @param {number} [start] @param {number} [end] */
  slice(start, end) {
    return this.#messages.slice(start, end);
  }

  /**
   * What a model call would get.
   * @template {Format} [F="leftoff"]
   * @param {ContextRequest<F>} [request]
   * @returns {Promise<ContextBuildResult<F>>}
   */
  async context(request) {
    const { id, model } = this.session;
    const created = { id, agent: model ? { model } : undefined };
    const storage = new MemoryStorage();
    const session = await Session.begin({ storage, path: "/transcript", placement: "home", cache: { storage, folder: "/cache" }, created });
    try {
      if (this.#messages.length > 0) await session.appendCopies(this.#messages);
      return await session.context(request);
    } finally {
      session.letGo();
    }
  }
}

/** @param {string | Uint8Array | Blob} file */
async function bytesOf(file) {
  if (file instanceof Uint8Array) return file;
  if (file instanceof Blob) return new Uint8Array(await file.arrayBuffer());
  try {
    return await readFile(file);
  } catch (cause) {
    throw new LeftoffError({ code: "not_found", message: `expected a file at "${file}", but it could not be read`, cause });
  }
}
