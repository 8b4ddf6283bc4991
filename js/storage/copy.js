// @ts-check
/** Copying between storages, by their own verbs. A file is in its place whole, or not at all. */

import { LeftoffError } from "../error.js";
import { temporaryBeside } from "../host/host.node.js";
import { join } from "../host/path.node.js";

/** @import { Storage } from "./contract.js" */
/** @typedef {{ storage: Storage, path: string }} At */

/** So much of a file is in memory. */
const PIECE = 4 * 1024 * 1024;

/**
 * Copies a file, or a folder with all in it; how many bytes that were.
 * @param {At} from @param {At} to @param {{ isMissing?: boolean }} [options] `isMissing`: only what is not there
 * @returns {Promise<number>}
 */
export async function copied(from, to, { isMissing = false } = {}) {
  const { kind, size = 0 } = (await from.storage.stat(from.path)) ?? {};
  if (kind === "folder") return folder(from, to, isMissing);
  if (kind && kind !== "file") throw new LeftoffError({ code: "not_a_file", message: `expected a file or a folder at "${from.path}", but found something else instead` });
  if (isMissing && (await to.storage.stat(to.path))) return 0;
  return file(from, to, size);
}

/** @param {At} from @param {At} to @param {boolean} isMissing */
async function folder(from, to, isMissing) {
  let bytes = 0;
  for (const { name } of (await from.storage.list(from.path)) ?? []) {
    bytes += await copied({ ...from, path: join(from.path, name) }, { ...to, path: join(to.path, name) }, { isMissing });
  }
  return bytes;
}

/** @param {At} from @param {At} to @param {number} size */
async function file(from, to, size) {
  if (size <= PIECE) {
    const bytes = (await from.storage.readRange(from.path, 0, size)) ?? new Uint8Array();
    await to.storage.replace(to.path, bytes);
    return bytes.length;
  }
  const temporary = temporaryBeside(to.path);
  try {
    await filled(from, { ...to, path: temporary }, size);
    await to.storage.move(temporary, to.path);
  } catch (error) {
    // The caller hears why copying failed; that a temporary file stayed behind must not hide it.
    await to.storage.remove(temporary).catch(() => {});
    throw error;
  }
  return size;
}

/** @param {At} from @param {At} to @param {number} size */
async function filled(from, to, size) {
  for (let at = 0; at < size; ) {
    const bytes = (await from.storage.readRange(from.path, at, Math.min(size, at + PIECE))) ?? new Uint8Array();
    if (bytes.length === 0) throw new LeftoffError({ code: "storage_failed", message: `expected ${size} bytes in "${from.path}", but found ${at} instead` });
    at += bytes.length;
    await to.storage.append(to.path, bytes, { durable: at === size });
  }
}
