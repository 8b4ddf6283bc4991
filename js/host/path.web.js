// @ts-check
/** Paths where there is no machine's own way to write them: with `/`, below `/`. */

export { basename, dirname, join, relative, resolve, sep } from "pathe";
