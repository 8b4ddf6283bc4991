// @ts-check
/** Where the files of pkg/ are: for Node, Deno and Bun. */

import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

import { LeftoffError } from "../error.js";

// A CommonJS bundle knows its folder, and has no import.meta.url. What `node -e` and a worker made of a text call
// __dirname is a global there, and the folder of nobody's file.
const here = import.meta.url ? dirname(fileURLToPath(import.meta.url)) : __dirname;

/**
 * Reads a file of pkg/. In a bundle it lies beside the bundle, or in node_modules above it.
 * @param {string} name
 */
export function asset(name) {
  const places = [join(here, "..", "..", "pkg", name), join(here, name)];
  for (let folder = here; dirname(folder) !== folder; folder = dirname(folder)) {
    places.push(join(folder, "node_modules", "leftoff", "pkg", name));
  }
  const found = places.find((place) => existsSync(place));
  if (found) return readFileSync(found);
  const message = `expected ${name} beside ${here}, but found none: copy node_modules/leftoff/pkg/${name} there`;
  throw new LeftoffError({ code: "asset_missing", message });
}
