// @ts-check
// `prepack` ends by it: a package that lacks what its own exports name is not packed. npm leaves out without a word what is not there.

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { fail, root } from "./run.mjs";

/** The files that a package's exports and programs name, whatever the condition. @param {unknown} named @returns {string[]} */
export function filesOf(named) {
  if (typeof named === "string") return [named.replace(/^\.\//, "")];
  return Object.values(/** @type {object} */ (named ?? {})).flatMap(filesOf);
}

if (import.meta.url === pathToFileURL(String(process.argv[1])).href) {
  const { bin, exports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const missing = filesOf({ bin, exports }).filter((file) => !existsSync(join(root, file)));
  if (missing.length > 0) fail(`expected ${missing.join(", ")}, but found none: npm run setup makes them`);
}
