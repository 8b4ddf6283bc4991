// @ts-check
/** A session as one text: for people, or for other programs. */

/** The formats there are. */
export const exportFormats = /** @type {const} */ (["json", "markdown"]);

/** @typedef {(typeof exportFormats)[number]} ExportFormat */
