// @ts-check
/** What is to be done before a signal ends the process. */

import { constants } from "node:os";
import process from "node:process";

const SIGNALS = /** @type {const} */ (["SIGINT", "SIGTERM", "SIGHUP"]);
/** How long a runtime may take to end itself by a signal. */
const LAST_MS = 100;

/** What each of those who wait for a signal does then. @type {Set<() => Promise<unknown>>} */
const guarded = new Set();
/** A signal came, and nobody else is there to end the process. */
let isEnding = false;

/**
 * Has something done when a signal ends the process. Other listeners still run, and where there is one, ending the process is its
 * part. Else the signal has the last word once all is done, and the exit status is its own; a second one ends the process at once.
 * @param {() => Promise<unknown>} work does not reject
 */
export function beforeSignals(work) {
  if (guarded.has(work)) return;
  guarded.add(work);
  if (guarded.size === 1) for (const signal of SIGNALS) process.prependListener(signal, onSignal);
}

/** Has it not done any more. @param {() => Promise<unknown>} work */
export function cancelBeforeSignals(work) {
  const wasThere = guarded.delete(work);
  if (wasThere && guarded.size === 0) for (const signal of SIGNALS) process.removeListener(signal, onSignal);
}

// First among the listeners, so that those which listen once are still there to be counted.
/** @param {NodeJS.Signals} signal */
function onSignal(signal) {
  if (isEnding) return end(signal);
  // Another listener ends the process itself: raising the signal again would run it twice.
  isEnding = process.listenerCount(signal) === 1;
  const done = Promise.all([...guarded].map((work) => work()));
  if (isEnding) done.then(() => end(signal));
}

/** @param {NodeJS.Signals} signal */
function end(signal) {
  for (const work of [...guarded]) cancelBeforeSignals(work);
  process.kill(process.pid, signal);
  // Not every runtime gives a signal its own effect back.
  setTimeout(() => process.exit(128 + constants.signals[signal]), LAST_MS);
}
