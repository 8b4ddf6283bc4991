// @ts-check
/** Paths as this machine writes them. */

export { basename, dirname, join, relative, resolve, sep } from "node:path";
