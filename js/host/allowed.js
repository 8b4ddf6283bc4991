// @ts-check
/** What a runtime with permissions may refuse: who is not allowed to look finds nothing. */

/** @template T @param {() => T} look @returns {T | undefined} nothing where Deno does not let it */
export function allowed(look) {
  try {
    return look();
  } catch (error) {
    return unlessRefused(error);
  }
}

/** Whether Deno refused: that has a name, and no code. @param {unknown} error */
export const isRefused = (error) => error instanceof Error && error.name === "NotCapable";

/** Nothing for what Deno refused. @param {unknown} error @returns {undefined} */
export function unlessRefused(error) {
  if (isRefused(error)) return undefined;
  throw error;
}
