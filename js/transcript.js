// @ts-check
/** An agent's transcript, read and not stored. */

import { readFile } from "node:fs/promises";

import { agents } from "./agents.js";
import { fromBytes } from "./core.js";
import { LeftoffError } from "./error.js";
import { Session } from "./session.js";
import { MemoryStorage } from "./storage/memory.js";

/**
 * @typedef {{ id: string, agent: string, sourceId: string, parent: any, title: string | null, folder: string | null,
 *   model: string | null, losses: { field: string, count: number, why: string }[], messages: any[] }} ReadSession
 */

/**
 * What an agent's file holds.
 * @param {Uint8Array} bytes
 * @param {string} path
 * @param {string} [from] the agent; the content tells unless given
 * @returns {{ sessions: ReadSession[], problems: any[] }}
 */
export function parse(bytes, path, from) {
  return fromBytes(agents.called(({ readTranscript }) => readTranscript(bytes, path.replaceAll("\\", "/"), from)));
}

/**
 * Reads a transcript of any known agent. Nothing is stored.
 * @param {string | Uint8Array | Blob} file a path, or the bytes
 */
export async function readTranscript(file) {
  const { sessions, problems } = parse(await bytesOf(file), typeof file === "string" ? file : "transcript.jsonl");
  return new Transcript(sessions[0], problems);
}

export class Transcript {
  #messages;

  /** @param {ReadSession} session @param {any[]} problems */
  constructor({ messages, ...session }, problems) {
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

  /** What a model call would get. @param {import("./context.js").ContextRequest} request */
  async context(request) {
    const { id, model } = this.session;
    const created = { id, agent: model ? { model } : undefined };
    const storage = new MemoryStorage();
    const session = await Session.begin({ storage, path: "/transcript", placement: "home", cache: { storage, folder: "/cache" }, created });
    if (this.#messages.length > 0) await session.append(this.#messages);
    return session.context(request);
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
