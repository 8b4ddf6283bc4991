// @ts-check
/** The messages of a session, read one piece of its log after another. */

import { called, fromBytes, lent } from "./core.js";
import { LeftoffError } from "./error.js";

/** @import { Reader, Revisions, Session as Handle } from "../pkg/leftoff.js" */
/** @import { Log, Problem } from "./log.js" */
/** @import { Storage } from "./storage/contract.js" */
/** @import { ReadMessage, Reading } from "./types/index.js" */

/** What is read at once. */
const CHUNK = 256 * 1024;
/** How often a log that is followed is looked at. */
const LOOK_MS = 50;

/** So many messages are asked at once whether they lie on the path. */
const SOME = 256;

/** Reads from a log, and the blobs beside it. @typedef {{ storage: Storage, log: Log, folder: string }} From */

/**
 * The messages of a path, as it is now.
 * @param {From} from
 * @param {Handle} handle which knows all of the conversation
 * @param {Reading} reading
 * @returns {AsyncGenerator<ReadMessage>}
 */
export async function* ofPath(from, handle, { newestFirst: isNewestFirst, leaf, allBranches }) {
  // What is appended meanwhile may begin a branch: the path is that of this message nevertheless.
  const of = called(() => handle.leaf) && (leaf ?? called(() => handle.leaf));
  const end = await from.log.size();
  const all = isNewestFirst ? newestFirst(from, { end, handle }) : oldestFirst(from, { start: 0, end });
  if (of === undefined) return yield* all;
  /** @type {ReadMessage[]} */
  let some = [];
  const marked = () => {
    const isOn = called(() => handle.areOnPath(some.map(({ id }) => id), of));
    const those = some.flatMap((message, place) => (isOn[place] ? message : allBranches ? { ...message, onPath: /** @type {const} */ (false) } : []));
    some = [];
    return those;
  };
  for await (const message of all) if (some.push(message) === SOME) yield* marked();
  yield* marked();
}

/**
 * Oldest first: from `start` up to `end`.
 * @param {From} from
 * @param {{ start: number, end: number }} range
 */
export async function* oldestFirst(from, { start, end }) {
  const { handle: reader, free } = forward(start, await revisionsOf(from, { start, end }));
  try {
    for await (const bytes of from.log.pieces(start, end)) {
      called(() => reader.feed(bytes));
      yield* given(from, reader);
    }
    called(() => reader.finish());
    yield* given(from, reader);
  } finally {
    free();
  }
}

/** Where what was written again lies. @param {From} from @param {{ start: number, end: number }} range */
async function revisionsOf(from, { start, end }) {
  const { handle, free } = lent((core) => new core.Revisions(start));
  try {
    for await (const bytes of from.log.pieces(start, end)) called(() => handle.feed(bytes));
    return handle;
  } catch (error) {
    free();
    throw error;
  }
}

/** A reader of lines that follow one another; it takes over what is known of revisions. @param {number} start @param {Revisions} [revisions] */
function forward(start, revisions) {
  return lent((core) => core.Reader.oldestFirst(start, revisions ?? new core.Revisions(start)));
}

/**
 * Newest first: from `end` down to the beginning.
 * @param {From} from
 * @param {{ end: number, piece?: number, handle?: Handle }} range `piece`: what is read at once; `handle`: of the session, which
 *   knows which lines say again what was said before
 */
export async function* newestFirst(from, { end, piece = CHUNK, handle }) {
  const { handle: reader, free } = lent((core) => (handle ? handle.newestFirst(end) : core.Reader.newestFirst(end)));
  try {
    for (let before = end; before > 0; ) {
      const start = Math.max(0, before - piece);
      const bytes = await from.log.range(start, before);
      called(() => reader.feed(bytes));
      before = start;
      yield* given(from, reader);
    }
    called(() => reader.finish());
    yield* given(from, reader);
  } finally {
    free();
  }
}

/**
 * What is appended behind `start`, as it comes.
 * @param {From} from
 * @param {{ start: number, signal?: AbortSignal }} options
 */
export async function* appended(from, { start, signal }) {
  const { handle: reader, free } = forward(start);
  try {
    for (let at = start; !signal?.aborted; ) {
      const end = await from.log.size();
      for await (const bytes of from.log.pieces(at, end)) {
        called(() => reader.feed(bytes));
        yield* given(from, reader);
        at += bytes.length;
      }
      if (at >= end) await pause(signal);
    }
  } finally {
    free();
  }
}

// A look at the size costs some microseconds, and works where the system tells of no changes: on network filesystems.
/** @param {AbortSignal} [signal] */
function pause(signal) {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", done);
      resolve(undefined);
    };
    const timer = setTimeout(done, LOOK_MS);
    signal?.addEventListener("abort", done);
  });
}

/**
 * Which blobs are missing or damaged, and where the lines lie that name them.
 * @param {From} from
 * @returns {Promise<Problem[]>}
 */
export async function missingBlobs(from) {
  const { handle: reader, free } = forward(0);
  /** @type {Problem[]} */
  const missing = [];
  const note = (/** @type {Problem} */ problem) => problem.code === "missing_blob" && missing.push(problem);
  try {
    for await (const bytes of from.log.pieces(0, await from.log.size())) {
      called(() => reader.feed(bytes));
      for await (const _ of given(from, reader, note));
    }
    return missing;
  } finally {
    free();
  }
}

/**
 * The bytes of a blob; nothing where it is not there, or something else stands in its place.
 * @param {Pick<From, "storage" | "folder">} from
 * @param {string} id
 */
export async function blobOf({ storage, folder }, id) {
  try {
    return (await storage.read(`${folder}/blobs/${id}`)) ?? undefined;
  } catch (error) {
    if (!(error instanceof LeftoffError && ["not_a_file", "outside_store"].includes(error.code))) throw error;
    return undefined;
  }
}

/**
 * @param {From} from
 * @param {Reader} reader
 * @param {(problem: Problem) => unknown} [note]
 * @returns {AsyncGenerator<any>}
 */
async function* given(from, reader, note) {
  for (;;) {
    const { messages, problems, needs } = fromBytes(called(() => reader.batch()));
    if (note) problems.forEach(note);
    yield* messages;
    if (!needs) return;
    if (needs.type === "blob") {
      const bytes = await blobOf(from, needs.id);
      called(() => reader.blob(needs.id, bytes));
    } else {
      const { start, end } = needs.range;
      const bytes = await from.log.range(start, end);
      called(() => reader.bytes(start, bytes));
    }
  }
}
