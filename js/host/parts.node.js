// @ts-check
/** Small modules for hosts that load over a network; none in Node, where they would be two more to load. */

/** @type {typeof import("./parts.web.js").parts | undefined} */
export const parts = undefined;
