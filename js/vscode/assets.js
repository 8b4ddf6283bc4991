// @ts-check
/** The files of `pkg/` in an extension of VS Code: each compressed by zstd, beside the bundle. */

import { existsSync, readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { decompress } from "fzstd";

const here = import.meta.url ? dirname(fileURLToPath(import.meta.url)) : __dirname;

/** @param {string} name */
const pathOf = (name) => join(here, `${name}.zst`);

/** @param {string} name */
export const isHere = (name) => existsSync(pathOf(name));

/** @param {string} name @returns {Uint8Array<ArrayBuffer> | undefined} */
export const loadNow = (name) =>
  isHere(name) ? /** @type {Uint8Array<ArrayBuffer>} */ (decompress(readFileSync(pathOf(name)))) : undefined;

/** @param {string} name @returns {Promise<Uint8Array<ArrayBuffer>>} */
export async function load(name) {
  throw new Error(`the extension has no ${name}`);
}

/**
 * @param {URL | string} url
 * @returns {Promise<Uint8Array<ArrayBuffer>>}
 */
export const readUrl = (url) => readFile(new URL(url));
