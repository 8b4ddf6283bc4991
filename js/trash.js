// @ts-check
/** Deleting: what a user deletes lies in the trash, whole, until it is purged there. */

import { basename, dirname, join } from "node:path";

import { LeftoffError } from "./error.js";
import { conversationOf } from "./placement.js";

/** @import { Place } from "./placement.js" */
/** @import { Storage } from "./storage/contract.js" */

/** Where something of this name comes to lie that is deleted now. @param {string} home @param {string} name */
export function inTrash(home, name) {
  return join(home, "trash", `${new Date().toISOString().replaceAll(":", "-")}-${name}`);
}

/**
 * Puts the folder of a session in the trash.
 * @param {Place} session
 * @param {{ storage: Storage, home: string }} trash
 * @returns {Promise<string>} where it lies now
 */
export async function toTrash({ storage, path, placement }, { storage: home, home: folder }) {
  const name = placement === "home" ? basename(path) : `${conversationOf(path).name}${basename(path)}`;
  const place = inTrash(folder, name);
  if (storage === home) {
    await storage.move(path, place);
    return place;
  }
  // Another root, perhaps another disk: copied whole, then removed.
  await copied({ storage, path }, { storage: home, path: place });
  await storage.remove(path);
  return place;
}

/**
 * Copies all in a folder.
 * @param {{ storage: Storage, path: string }} from @param {{ storage: Storage, path: string }} to
 * @param {{ but?: string[] }} [options] `but`: what is left out
 */
export async function copied(from, to, { but = [] } = {}) {
  for (const { name, kind } of (await from.storage.list(from.path)) ?? []) {
    if (but.includes(name)) continue;
    const [source, target] = [join(from.path, name), join(to.path, name)];
    if (kind === "folder") await copied({ storage: from.storage, path: source }, { storage: to.storage, path: target });
    else if (kind === "file") await copiedFile({ storage: from.storage, path: source }, { storage: to.storage, path: target });
    else throw new LeftoffError({ code: "not_a_file", message: `expected files and folders in "${dirname(source)}", but found "${basename(source)}" instead` });
  }
}

/** @param {{ storage: Storage, path: string }} from @param {{ storage: Storage, path: string }} to */
async function copiedFile(from, to) {
  const PIECE = 4 * 1024 * 1024;
  const size = (await from.storage.stat(from.path))?.size ?? 0;
  if (size <= PIECE) return to.storage.replace(to.path, (await from.storage.read(from.path)) ?? new Uint8Array());
  for (let at = 0; at < size; ) {
    const bytes = (await from.storage.readRange(from.path, at, Math.min(size, at + PIECE))) ?? new Uint8Array();
    if (bytes.length === 0) throw new LeftoffError({ code: "storage_failed", message: `expected ${size} bytes in "${from.path}", but found ${at} instead` });
    at += bytes.length;
    await to.storage.append(to.path, bytes, { durable: at === size });
  }
}
