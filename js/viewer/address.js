// @ts-check
/** What the page's address names: `#s=<session>&m=<message>&b=<branch>&q=<searched text>`, or `#list`. */

/** The address of the list of sessions. */
export const LIST = "#list";

/**
 * @returns {{ session?: string, message?: string, branch?: string, search?: string, isList: boolean }} as it is now
 */
export function readAddress() {
  const named = new URLSearchParams(location.hash.slice(1));
  const get = (/** @type {string} */ name) => named.get(name) ?? undefined;
  const isList = location.hash === LIST;
  return { session: get("s"), message: get("m"), branch: get("b"), search: get("q"), isList };
}

/**
 * An address for this page. Without a session: of the one that the address names already.
 * @param {{ session?: string, message?: string, branch?: string, search?: string }} named
 */
export function addressOf({ session = readAddress().session, message, branch, search }) {
  const named = Object.entries({ s: session, m: message, b: branch, q: search }).filter(
    ([, value]) => value !== undefined,
  );
  return `#${named.map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`).join("&")}`;
}
