// @ts-check
/** Reading an agent's transcript without storing it. */

import { bytesOf, fromBytes, toBytes, coreModule } from "../wasm/core.js";
import { drive } from "../wasm/drive.js";
import { readFile } from "../host/host.node.js";
import { toJsonFast } from "../wasm/json.js";
import { checkKind } from "../wasm/options.js";
import { readerModule, contextModule } from "../wasm/module-choice.js";
import { splitRequest } from "./context/contexts.js";
import { SessionHandle } from "./handle.js";
import { appendCopies, sessionOf } from "./session.js";
import { MemoryStorage } from "../storage/memory.js";

/** @import { Transcript as Handle } from "../../pkg/agents.js" */
/** @import { agents } from "../wasm/agents.js" */
/** @import { Host } from "../wasm/drive.js" */
/** @import { ContextBuildResult, ContextRequest, Format, Hit, Problem } from "../types/index.js" */
/** @import { ReadMessage, TranscriptSession, Turn } from "../types/index.js" */

/**
 * A session as read, with the fields that lists show.
 * @typedef {TranscriptSession & { messageCount: number, created: string | null, lastTimestamp: string | null }}
 *   ReadSession
 */

/**
 * Parses an agent's file. The messages stay in the module, behind the handle, which the caller frees: most go from
 * there into a log.
 * @internal
 * @param {Uint8Array} bytes @param {string} path
 * @param {string} [from] the agent; detected from the content unless given
 * @param {Uint8Array} [beside] the agent's companion file
 * @returns {{ sessions: ReadSession[], problems: Problem[], module: typeof agents, handle: Handle, free: () => void }}
 */
export function parseTranscript(bytes, path, from, beside) {
  const module = readerModule();
  const { handle, free } = module.createHandle(
    ({ Transcript }) => new Transcript(bytes, path.replaceAll("\\", "/"), from, beside),
  );
  try {
    return { ...fromBytes(module.call(() => handle.overview())), module, handle, free };
  } catch (error) {
    free();
    throw error;
  }
}

/**
 * Reads a transcript of any known agent. Nothing is stored.
 * @param {string | Uint8Array | import("../types/index.js").FileBlob} file a path, or the bytes
 * @returns {Promise<Transcript>}
 * @throws {LeftoffError} `not_found`, `not_a_file`, `unknown_format`, `too_deep`, `empty_file`, `damaged`, `too_large`,
 *   `missing_dependency`
 * @example
 * const transcript = await readTranscript(transcriptPath);
 * transcript.session.agent; // => "claude-code"
 * transcript.slice(0, 1).map(({ role }) => role); // => ["user"]
 */
export async function readTranscript(file) {
  await readerModule().ready();
  const {
    sessions: [first],
    problems,
    module,
    handle,
    free,
  } = parseTranscript(await readBytes(file), typeof file === "string" ? file : "transcript.jsonl");
  try {
    const { messageCount, created, lastTimestamp, ...session } = /** @type {ReadSession} */ (first);
    return transcriptOf(session, fromBytes(module.call(() => handle.messages(0, 0, messageCount))), problems);
  } finally {
    free();
  }
}

/** @type {(session: TranscriptSession, messages: ReadMessage[], problems: Problem[]) => Transcript} */
let transcriptOf;

/** A conversation from an agent's own file, in memory. */
export class Transcript {
  #messages;
  /** The messages as log lines, made by the first search. @type {Uint8Array | undefined} */
  #lines;

  static {
    transcriptOf = (...read) => new this(...read);
  }

  /** @private @param {TranscriptSession} session @param {ReadMessage[]} messages @param {Problem[]} problems */
  constructor(session, messages, problems) {
    this.#messages = messages;
    /** The transcript's own metadata. */
    this.session = session;
    /** Places that could not be read. */
    this.problems = problems;
  }

  /** The number of messages. */
  get length() {
    return this.#messages.length;
  }

  /**
   * Returns messages from `start` up to but not including `end`.
   * @param {number} [start]
   * @param {number} [end]
   * @returns {ReadMessage[]}
   * @example
   * const transcript = await readTranscript(transcriptPath); transcript.slice(0, 50).length; // => transcript.length
   */
  slice(start, end) {
    return this.#messages.slice(start, end);
  }

  /**
   * Outlines the transcript: each turn's request, and what came of it.
   * @returns {Turn[]}
   * @example
   * const transcript = await readTranscript(transcriptPath);
   * const [first] = transcript.outline();
   * first.start; // => 0
   */
  outline() {
    return fromBytes(readerModule().call((module) => module.outline(toBytes(this.#messages))));
  }

  /**
   * Finds messages that have all of these words, in any case, newest first.
   * @param {string} words
   * @returns {Hit[]}
   * @throws {LeftoffError} `invalid_request` for words that are no text
   * @example
   * const transcript = await readTranscript(transcriptPath);
   * transcript.search("no such words are here"); // => []
   */
  search(words) {
    checkKind("words", words);
    this.#lines ??= bytesOf(this.#messages.map((message) => `${JSON.stringify(message)}\n`).join(""));
    const lines = this.#lines;
    return fromBytes(readerModule().call((module) => module.searchLines(words, lines)));
  }

  /**
   * Builds the context that a model call would get.
   * @template {Format} [F="leftoff"]
   * @param {ContextRequest<F>} [request]
   * @returns {Promise<ContextBuildResult<F>>}
   * @throws {LeftoffError} what `Session.context` throws
   * @example
   * const transcript = await readTranscript(transcriptPath);
   * const { messages, report } = await transcript.context({ window: 32_000 });
   * report.budget.availableTokens; // => 24000
   */
  async context(request = {}) {
    const { asked, count, summarize, strategies } = splitRequest(request);
    if (strategies.length > 0) return this.#inSession(request);
    const module = contextModule();
    await module.ready();
    const messages = bytesOf(toJsonFast(this.#messages));
    const all = toBytes({ ...asked, model: this.session.model ?? undefined });
    return fromBytes(
      await drive((operations, now, chance) => operations.contextOf(messages, all, module.anyCounter(), now, chance), {
        ...FILELESS_HOST,
        module,
        own: { count, summarize },
      }),
    );
  }

  // The caller's strategies get a session, so it is one in memory.
  /** @param {ContextRequest<any>} request @returns {Promise<any>} */
  async #inSession(request) {
    const { id, model } = this.session;
    const created = { id, agent: model ? { model } : undefined };
    await coreModule.ready();
    const storage = new MemoryStorage();
    const live = new SessionHandle({
      storage,
      path: "/transcript",
      placement: "home",
      cache: { storage, folder: "/cache" },
    });
    await live.begin(created);
    const session = sessionOf(live, {});
    try {
      if (this.#messages.length > 0) await appendCopies(session, this.#messages);
      return await session.context(request);
    } finally {
      live.release();
    }
  }
}

/** The host of operations that ask for no file. @type {Pick<Host, "at" | "log" | "turn">} */
const FILELESS_HOST = {
  at: () => ({ storage: new MemoryStorage(), path: "/" }),
  log: () => ({ storage: new MemoryStorage(), path: "/", folder: "/", opened: 0 }),
  turn: async () => () => {},
};

/** @param {string | Uint8Array | Blob} file */
async function readBytes(file) {
  if (file instanceof Uint8Array) return file;
  if (file instanceof Blob) return new Uint8Array(await file.arrayBuffer());
  return readFile(checkKind("file", file));
}
