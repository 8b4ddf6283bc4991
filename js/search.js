// @ts-check
/** Finding sessions by what they are called, and by what was said in them. */

import { join } from "node:path";

import { agents } from "./agents.js";
import { nowMs, offsetMinutes } from "./clock.js";
import { fromBytes, textOf, toBytes } from "./core.js";
import { blobOf } from "./messages.js";
import { names } from "./placement.js";

/** @import { Place } from "./placement.js" */
/** @import { Redaction } from "./redaction.js" */
/** @import { Storage } from "./storage/contract.js" */
/** @import { Hit, Listed } from "./types/index.js" */

// What is read at once: so much that beginning costs nothing, and so little that the first is soon there.
const CHUNK = 1 << 20;
const LINE_FEED = 10;

/** Those that the words may mean, the best first. @internal @param {string} words @param {Listed[]} listed */
export function ranked(words, listed) {
  const known = listed.map(({ title, summary, name, type }) => [title, summary ?? "", name ?? "", type]);
  const places = agents.called((agents) => agents.ranked(words, toBytes(known)));
  return Array.from(places, (place) => /** @type {Listed} */ (listed[place]));
}

/**
 * A list as a person reads it, numbered from one.
 * @param {Pick<Listed, "id" | "type" | "title" | "lastActive" | "status" | "summary" | "archivedAt">[]} listed
 * @returns {string}
 * @example
 * await store.create({ title: "The parser" });
 * listText(await store.list()).startsWith("1. [chat] The parser"); // => true
 */
export function listText(listed) {
  const items = listed.map(({ id, type, title, lastActive, status, summary, archivedAt }) => ({ id, type, title, lastActive, status: archivedAt ? `archived, ${status}` : status, summary }));
  return textOf(agents.called((agents) => agents.listing(toBytes(items), nowMs(), offsetMinutes())));
}

/**
 * The messages of a session that have all words, the newest first.
 * @internal
 * @param {string} words @param {Place} place @param {Redaction} redaction
 * @returns {AsyncGenerator<Hit>}
 */
export async function* searched(words, { storage, path }, redaction) {
  const { handle: search, free } = agents.lent((agents) => new agents.Search(words));
  try {
    for await (const bytes of newestLines(storage, join(path, names().logs[0]))) {
      const places = agents.called(() => search.lines(bytes));
      for (let at = 0; at < places.length; at += 2) {
        let answer = fromBytes(agents.called(() => search.line(bytes.subarray(places[at], places[at + 1]))));
        while (answer.type === "needs") {
          const blob = await blobOf({ storage, folder: path }, answer.blob);
          answer = fromBytes(agents.called(() => search.blob(answer.blob, blob)));
        }
        if (answer.type !== "hit") continue;
        const { type: _, text, ...hit } = answer;
        // Before it is cut: of a part of a secret nobody can tell that it is one.
        const { value } = await redaction.out(text);
        yield { ...hit, excerpt: fromBytes(agents.called(() => search.excerpt(value))) };
      }
    }
  } finally {
    free();
  }
}

/** Whole lines, from the end of a file to its beginning. @param {Storage} storage @param {string} path */
async function* newestLines(storage, path) {
  let wanted = CHUNK;
  for (let end = (await storage.stat(path))?.size ?? 0; end > 0; ) {
    const start = Math.max(0, end - wanted);
    const bytes = (await storage.readRange(path, start, end)) ?? new Uint8Array();
    const from = start === 0 ? 0 : bytes.indexOf(LINE_FEED) + 1;
    const isWhole = start === 0 || (from > 0 && from < bytes.length);
    if (bytes.length > 0 && !isWhole) {
      wanted *= 2; // The line is longer than that.
      continue;
    }
    yield bytes.subarray(from);
    end = start === 0 || bytes.length === 0 ? 0 : start + from;
    wanted = CHUNK;
  }
}
