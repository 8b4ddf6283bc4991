// @ts-check

/** @import { ErrorCode } from "./types/index.js" */

/**
 * The one error class of leftoff. `code` is stable and meant for programs, `message` is for people and may change,
 * `cause` is the error of the system or of the core.
 *
 * A failed append has two more fields: `written`, how many of its bytes got into the file (0: the append never
 * happened), and `durable: false` where all of them did but the disk did not confirm them.
 * An error with code `conflict` has `came`: the ids of the messages that came since, oldest first, the newest 20 at
 * most.
 * @example
 * const error = await store.session("nothing").catch((cause) => cause);
 * [error instanceof LeftoffError, error.code]; // => [true, "not_found"]
 */
export class LeftoffError extends Error {
  /**
   * @param {{ code: ErrorCode, message: string, cause?: unknown, written?: number, durable?: boolean, came?: string[] }} options
   */
  constructor({ code, message, cause, written, durable, came }) {
    super(message, cause === undefined ? undefined : { cause });
    /** @type {ErrorCode} */
    this.code = code;
    if (written !== undefined) this.written = written;
    if (durable !== undefined) this.durable = durable;
    if (came !== undefined) this.came = came;
  }

  // Not the constructor's own name: bundlers rename classes.
  get name() {
    return "LeftoffError";
  }
}

/**
 * Lets pass what the system refused, for work that may fail without a loss. A bug is rethrown, and so is a trap of the
 * core, which says nothing of what the core was working on.
 * @internal
 * @param {unknown} error @returns {asserts error is LeftoffError}
 */
export function refuseBug(error) {
  if (!(error instanceof LeftoffError) || error.code === "internal") throw error;
}

/** `refuseBug` for reads: what the system refused counts as absent. @internal @param {unknown} error */
export function unlessBug(error) {
  refuseBug(error);
}
