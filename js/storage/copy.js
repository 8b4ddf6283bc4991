// @ts-check
/** Copies between storages, by their own verbs. A file is in its place whole, or not at all. */

import { LeftoffError } from "../error.js";
import { temporaryPathFor } from "../host/host.node.js";
import { join } from "../host/path.node.js";

/** @import { Storage } from "./contract.js" */
/** @typedef {{ storage: Storage, path: string }} StoragePath */

/** The most bytes of a file held in memory. */
const CHUNK_BYTES = 4 * 1024 * 1024;

/**
 * Copies a file, or a folder with all in it.
 * @param {StoragePath} from
 * @param {StoragePath} to
 * @param {{ isMissing?: boolean }} [options] `isMissing`: only what the target lacks
 * @returns {Promise<number>} the bytes copied
 */
export async function copyTree(from, to, { isMissing = false } = {}) {
  const { kind, size = 0 } = (await from.storage.stat(from.path)) ?? {};
  if (kind === "folder") return copyFolder(from, to, isMissing);
  if (kind && kind !== "file")
    throw new LeftoffError({
      code: "not_a_file",
      message: `expected a file or a folder at "${from.path}", but found something else instead`,
    });
  if (isMissing && (await to.storage.stat(to.path))) return 0;
  return copyFile(from, to, size);
}

/** @param {StoragePath} from @param {StoragePath} to @param {boolean} isMissing */
async function copyFolder(from, to, isMissing) {
  let bytes = 0;
  for (const { name } of (await from.storage.list(from.path)) ?? []) {
    bytes += await copyTree(
      { ...from, path: join(from.path, name) },
      { ...to, path: join(to.path, name) },
      { isMissing },
    );
  }
  return bytes;
}

/** @param {StoragePath} from @param {StoragePath} to @param {number} size */
async function copyFile(from, to, size) {
  if (size <= CHUNK_BYTES) {
    const bytes = (await from.storage.readRange(from.path, 0, size)) ?? new Uint8Array();
    await to.storage.replace(to.path, bytes);
    return bytes.length;
  }
  const temporary = temporaryPathFor(to.path);
  try {
    await copyPieces(from, { ...to, path: temporary }, size);
    await to.storage.move(temporary, to.path);
  } catch (error) {
    // The caller hears why copying failed; that a temporary file stayed behind must not hide it.
    await to.storage.remove(temporary).catch(() => {});
    throw error;
  }
  return size;
}

/** @param {StoragePath} from @param {StoragePath} to @param {number} size */
async function copyPieces(from, to, size) {
  for (let at = 0; at < size;) {
    const bytes = (await from.storage.readRange(from.path, at, Math.min(size, at + CHUNK_BYTES))) ?? new Uint8Array();
    if (bytes.length === 0)
      throw new LeftoffError({
        code: "storage_failed",
        message: `expected ${size} bytes in "${from.path}", but found ${at} instead`,
      });
    at += bytes.length;
    await to.storage.append(to.path, bytes, { durable: at === size });
  }
}
