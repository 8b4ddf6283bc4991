// @ts-check
/** Building a context: the core says what it needs, and gets it, until it is ready. */

import { anyCounter, called, exactCounter, fromBytes, stamp, textOf, toBytes } from "./core.js";
import { LeftoffError } from "./error.js";
import { blobOf } from "./messages.js";

/** @import { ContextBuild } from "../pkg/leftoff.js" */
/** @import { Log } from "./log.js" */
/** @import { ContextBuildResult, ContextRequest } from "./session.js" */
/** @import { Storage } from "./storage/contract.js" */

/**
 * @param {ContextBuild} build
 * @param {{ storage: Storage, log: Log, folder: string }} from
 * @param {Pick<ContextRequest, "count">} request
 * @returns {Promise<ContextBuildResult>}
 */
export async function built(build, from, { count }) {
  let counter = anyCounter();
  for (;;) {
    const { ready, needs } = fromBytes(called(() => build.next(counter)));
    if (ready) return ready;
    if (needs.type === "bytes") {
      const { start, end } = needs.range;
      const bytes = await from.log.range(start, end);
      called(() => build.bytes(start, bytes));
    } else if (needs.type === "blob") {
      const bytes = await blobOf(from, needs.id);
      called(() => build.blob(needs.id, bytes));
    } else if (needs.type === "counts" && called((core) => core.Counter.encodingOf(needs.encoding))) {
      counter = exactCounter(needs.encoding);
    } else if (needs.type === "counts" && count) {
      const counts = await count(needs.texts, needs.encoding);
      called(() => build.counts(toBytes(needs.texts.map((/** @type {string} */ text, /** @type {number} */ i) => [text, counts[i]]))));
    } else {
      const message = `expected a counter for "${needs.encoding}", but found none: give "count", or an encoding of o200k_base, cl100k_base or estimate-1`;
      throw new LeftoffError({ code: "no_counter", message });
    }
  }
}

/** What the next run is told first: which conversation it goes on with. @param {any} metadata @param {ContextBuildResult} context */
export function blockOf(metadata, context) {
  const left = context.originalMessageCount - context.includedMessageCount;
  const told = {
    type: metadata.type,
    title: metadata.display.title,
    lastActive: metadata.timestamps.lastMessageAt || undefined,
    messageCount: metadata.stats.messageCount,
    summary: metadata.summary,
    leftOut: left > 0 ? { count: left, command: `leftoff show ${metadata.id}` } : undefined,
  };
  return textOf(called((core) => core.resumeBlock(toBytes(told), stamp())));
}
