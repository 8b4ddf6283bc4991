// @ts-check
/** Runs work before a signal ends the process. */

import { constants } from "node:os";
import process from "node:process";

const SIGNALS = /** @type {const} */ (["SIGINT", "SIGTERM", "SIGHUP"]);
/** How long a runtime may take to end itself by a signal. */
const EXIT_GRACE_MS = 100;

/** The work to run at a signal. @type {Set<() => Promise<unknown>>} */
const guarded = new Set();
/** Whether a signal came and no other listener will end the process. */
let isEnding = false;

/**
 * Registers work for when a signal ends the process. Other listeners still run; where there is one, ending the process
 * is its part. Else the signal ends the process once all work is done, with its own exit status; a second one ends it
 * at once.
 * @param {() => Promise<unknown>} work does not reject
 */
export function beforeSignals(work) {
  if (guarded.has(work)) return;
  guarded.add(work);
  if (guarded.size === 1) for (const signal of SIGNALS) process.prependListener(signal, onSignal);
}

/** Unregisters work. @param {() => Promise<unknown>} work */
export function cancelBeforeSignals(work) {
  const wasThere = guarded.delete(work);
  if (wasThere && guarded.size === 0) for (const signal of SIGNALS) process.removeListener(signal, onSignal);
}

// Registered first among the listeners, so that once-listeners are still there to be counted.
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
  // Not every runtime restores a signal's own effect.
  setTimeout(() => process.exit(128 + constants.signals[signal]), EXIT_GRACE_MS);
}
