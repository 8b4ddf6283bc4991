// @ts-check
/**
 * The files of `pkg/` in Node, Deno and Bun: beside this file, or as text in a bundle that was moved away from them.
 */

import { readFileSync, statSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

import { SIZES } from "../../pkg/sizes.js";
import { importInlined } from "./inlined-assets.js";

// A CommonJS bundle knows its folder, and has no import.meta.url. In `node -e` and in a worker made from text,
// __dirname is a global and no file's folder.
const here = import.meta.url ? dirname(fileURLToPath(import.meta.url)) : typeof __dirname === "string" ? __dirname : "";
const folders = here ? [here, join(here, "..", "..", "pkg")] : [];

/**
 * A file's path. A bundle may remember the folder it was built in: a file of another size there is another version's.
 * @param {string} name
 */
function pathOf(name) {
  return folders
    .map((folder) => join(folder, name))
    .find((path) => {
      try {
        return statSync(path).size === SIZES[name];
      } catch {
        return false; // Absent, or not allowed to be looked at: the text in the bundle is as good.
      }
    });
}

/** @param {string} name */
export function isHere(name) {
  return pathOf(name) !== undefined;
}

/** @param {string} name @returns {Uint8Array<ArrayBuffer> | undefined} */
export function loadNow(name) {
  const path = pathOf(name);
  return path === undefined ? undefined : readFileSync(path);
}

/** @param {string} name @returns {Promise<Uint8Array<ArrayBuffer>>} */
export async function load(name) {
  const { inflateRawSync } = await import("node:zlib");
  return inflateRawSync(Buffer.from(await importInlined(name), "base64"));
}

/**
 * Reads file URLs only: nothing here opens a connection.
 * @param {URL | string} url
 * @returns {Promise<Uint8Array<ArrayBuffer>>}
 */
export const readUrl = (url) => readFile(new URL(url));
