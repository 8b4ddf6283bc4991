// @ts-check
/** Paths on hosts without a system's own notation: with `/`, below `/`. */

export { basename, dirname, join, relative, resolve, sep } from "pathe";
