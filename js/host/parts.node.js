// @ts-check
/** Modules for who loads over a network: in Node they would be two more to load. */

/** @type {typeof import("./parts.web.js").parts | undefined} */
export const parts = undefined;
