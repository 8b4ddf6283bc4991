// @ts-check
/** A browser's extension host has neither a disk nor programs. */

export function registerDesktop() {}
