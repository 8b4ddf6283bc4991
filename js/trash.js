// @ts-check
/** Deleting: what a user deletes lies in the trash, whole, until it is purged there. */

import { basename, dirname, join } from "node:path";
import process from "node:process";

import { laterMs } from "./clock.js";
import { bytesOf, called, newId } from "./core.js";
import { LeftoffError, unlessBug } from "./error.js";
import { conversationOf, names } from "./placement.js";

/** @import { Place } from "./placement.js" */
/** @import { Storage } from "./storage/contract.js" */

/** Where something of this name comes to lie that is deleted now. @param {string} home @param {string} name */
export function inTrash(home, name) {
  // Two may have the same name.
  return join(home, names().trash, called((core) => core.trashName(name, laterMs())));
}

/** Where it is written from which place each came. @param {string} home */
export function originsIn(home) {
  return join(home, names().trashOrigins);
}

/**
 * What the folder of a session is called, beside where it was, from when it is left until it is gone. Once it is renamed, no
 * append to it is acknowledged any more: so all that was is in it, and can be copied or removed file by file.
 * @param {string} path
 */
export function leftAt(path) {
  return join(dirname(path), called((core) => core.leftName(newId(), process.pid, basename(path))));
}

/** What a folder is called, beside where it was, that nobody wants any more: from then on until it is gone. @param {string} path */
export function goneAt(path) {
  return join(dirname(path), called((core) => core.goneName(newId(), process.pid, basename(path))));
}

/**
 * Puts the folder of a session in the trash.
 * @param {Place} session
 * @param {{ storage: Storage, home: string, lies?: string }} trash `lies`: where it was left
 * @returns {Promise<string>} where it lies now
 */
export async function toTrash({ storage, path, placement }, { storage: home, home: folder, lies }) {
  const name = placement === "home" ? basename(path) : `${conversationOf(path).name}${basename(path)}`;
  const place = inTrash(folder, name);
  // Before it goes: else nobody would know the way back.
  await home.append(originsIn(folder), bytesOf(`${JSON.stringify({ v: 1, trash: basename(place), path, placement })}\n`)).catch(unlessBug);
  if (storage === home) {
    await storage.move(lies ?? path, place);
    return place;
  }
  const left = lies ?? (await renamed({ storage, path }, leftAt(path)));
  // Another root, perhaps another disk: copied whole, then removed. What is copied in part is not in the trash yet.
  const coming = join(folder, names().trash, names().coming + basename(left));
  await home.remove(coming);
  await copied({ storage, path: left }, { storage: home, path: coming });
  await home.move(coming, place);
  await purged({ storage, path: left });
  return place;
}

/** Removes the folder of a session. What is removed in part is not a session that was left. @param {Pick<Place, "storage" | "path">} session */
export async function purged({ storage, path }) {
  await storage.remove(await renamed({ storage, path }, goneAt(path)));
}

/** @param {Pick<Place, "storage" | "path">} session @param {string} name */
async function renamed({ storage, path }, name) {
  await storage.move(path, name);
  return name;
}

/**
 * Copies all in a folder.
 * @param {{ storage: Storage, path: string }} from @param {{ storage: Storage, path: string }} to
 * @param {{ but?: string[], isMissing?: boolean }} [options] `but`: what is left out; `isMissing`: only what is not there
 */
export async function copied(from, to, { but = [], isMissing = false } = {}) {
  for (const { name, kind } of (await from.storage.list(from.path)) ?? []) {
    if (but.includes(name)) continue;
    const [source, target] = [join(from.path, name), join(to.path, name)];
    if (kind === "folder") await copied({ storage: from.storage, path: source }, { storage: to.storage, path: target }, { isMissing });
    else if (isMissing && (await to.storage.stat(target))) continue;
    else if (kind === "file") await copiedFile({ storage: from.storage, path: source }, { storage: to.storage, path: target });
    else throw new LeftoffError({ code: "not_a_file", message: `expected files and folders in "${dirname(source)}", but found "${basename(source)}" instead` });
  }
}

/** Copies a file; how many bytes that were. @param {{ storage: Storage, path: string }} from @param {{ storage: Storage, path: string }} to */
export async function copiedFile(from, to) {
  const PIECE = 4 * 1024 * 1024;
  const size = (await from.storage.stat(from.path))?.size ?? 0;
  if (size <= PIECE) {
    const bytes = (await from.storage.readRange(from.path, 0, size)) ?? new Uint8Array();
    await to.storage.replace(to.path, bytes);
    return bytes.length;
  }
  for (let at = 0; at < size; ) {
    const bytes = (await from.storage.readRange(from.path, at, Math.min(size, at + PIECE))) ?? new Uint8Array();
    if (bytes.length === 0) throw new LeftoffError({ code: "storage_failed", message: `expected ${size} bytes in "${from.path}", but found ${at} instead` });
    at += bytes.length;
    await to.storage.append(to.path, bytes, { durable: at === size });
  }
  return size;
}
