// @ts-check
/** Runtimes with permissions: a look that is not allowed finds nothing. */

/** @template T @param {() => T} look @returns {T | undefined} nothing where the runtime does not let it */
export function tryAllowed(look) {
  try {
    return look();
  } catch (error) {
    return unlessRefused(error);
  }
}

/** Whether the runtime refused: in Deno the error has a name and no code, in Node a code. @param {unknown} error */
export const isRefused = (error) =>
  error instanceof Error &&
  (error.name === "NotCapable" || /** @type {NodeJS.ErrnoException} */ (error).code === "ERR_ACCESS_DENIED");

/** Returns nothing for what the runtime refused, rethrows the rest. @param {unknown} error @returns {undefined} */
export function unlessRefused(error) {
  if (isRefused(error)) return undefined;
  throw error;
}
