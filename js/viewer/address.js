// @ts-check
/** What the page's address names: `#s=<session>&m=<message>&q=<searched text>`, or `#list`. */

/** The address of the list of sessions. */
export const LIST = "#list";

/**
 * @returns {{ session?: string, message?: string, search?: string, isList: boolean }} of the address as it is now
 */
export function readAddress() {
  const named = new URLSearchParams(location.hash.slice(1));
  const get = (/** @type {string} */ name) => named.get(name) ?? undefined;
  return { session: get("s"), message: get("m"), search: get("q"), isList: location.hash === LIST };
}

/**
 * An address for this page. Without a session: of the one that the address names already.
 * @param {{ session?: string, message?: string, search?: string }} named
 */
export function addressOf({ session = readAddress().session, message, search }) {
  const named = Object.entries({ s: session, m: message, q: search }).filter(([, value]) => value !== undefined);
  return `#${named.map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`).join("&")}`;
}
