// @ts-check
/** What lies in the trash, and its way back: byte for byte to where it was, never over something that is there. */

import { basename, isAbsolute, join, relative, sep } from "node:path";

import { called, newId, textOf, toBytes } from "./core.js";
import { derived } from "./derived.js";
import { LeftoffError, unlessBug } from "./error.js";
import { isFolder } from "./folder.js";
import { idOf } from "./live.js";
import { Home, conversationOf, names } from "./placement.js";
import { copied, originsIn } from "./trash.js";

/** @import { Storage } from "./storage/contract.js" */

/**
 * A session in the trash.
 * @typedef {object} Trashed
 * @property {string} id
 * @property {string} title
 * @property {string} deleted when, RFC 3339
 * @property {string} path where it lies now
 * @property {"home" | "workspace"} placement
 * @property {string | null} from the folder that it was in; null where nobody knows
 *
 * @typedef {{ home: string, storageAt: (root: string) => Storage }} Where `storageAt`: one that does not leave a folder
 */

/** The sessions in the trash, deleted last first. @param {Where} where @returns {Promise<Trashed[]>} */
export async function trashed({ home, storageAt }) {
  const storage = storageAt(home);
  const origins = await originsOf(storage, home);
  const found = [];
  for (const { name, kind } of (await storage.list(join(home, names().trash))) ?? []) {
    const read = called((core) => core.readTrashName(name));
    if (kind !== "folder" || !read) continue;
    const [deleted, placement, was] = read;
    const path = join(home, names().trash, name);
    const document = (await derived(storage, join(path, names()[placement].file))) ?? {};
    const id = placement === "home" ? idOf(was) : String(document.id ?? basename(was, names().sessionFolder));
    const title = String(document.display?.title ?? document.title ?? document.conversation_id ?? "");
    found.push({ id, title, deleted, path, placement, from: origins.get(name) ?? originBy(home, document, id) });
  }
  return found.sort((a, b) => (a.deleted < b.deleted ? 1 : -1));
}

/**
 * Brings a session back to where it was.
 * @param {string} id or a unique beginning of one; of several that have it the one that was deleted last
 * @param {Where & { isThere: (id: string) => Promise<boolean> }} where `isThere`: whether the store has a session of this id
 * @returns {Promise<{ id: string, title: string, path: string }>}
 */
export async function restored(id, { isThere, ...where }) {
  const all = await trashed(where);
  const newest = all.filter((one, place) => all.findIndex((other) => other.id === one.id) === place);
  const one = /** @type {Trashed} */ (newest[called((core) => core.exactly(id, toBytes(newest)))]);
  if (await isThere(one.id)) throw new LeftoffError({ code: "already_exists", message: `expected no session "${one.id}", but found one: what lies in the trash stays there` });
  const { from, placement } = one;
  if (!from) throw new LeftoffError({ code: "not_found", message: `expected to know where "${one.path}" was, but found no note of it; move it there by hand` });
  const storage = where.storageAt(where.home);
  if (placement === "home") await storage.move(one.path, from);
  else await carried({ storage, path: one.path }, { storage: where.storageAt(conversationOf(from).workspace), path: from });
  return { id: one.id, title: one.title, path: from };
}

// Another root, perhaps another disk: copied whole beside its place, and there in one step.
/** @param {{ storage: Storage, path: string }} from @param {{ storage: Storage, path: string }} to */
async function carried(from, { storage, path }) {
  const { workspace } = conversationOf(path);
  if (!isFolder(workspace)) throw new LeftoffError({ code: "not_found", message: `expected the workspace "${workspace}", but found none` });
  const beside = `${path}-${newId()}`;
  try {
    await copied(from, { storage, path: beside });
    await storage.move(beside, path);
  } catch (error) {
    await storage.remove(beside).catch(unlessBug);
    throw error;
  }
  await from.storage.remove(from.path);
}

/** Where each came from, by its name in the trash. @param {Storage} storage @param {string} home @returns {Promise<Map<string, string>>} */
async function originsOf(storage, home) {
  const bytes = await storage.read(originsIn(home));
  /** @type {Map<string, string>} */
  const origins = new Map();
  for (const line of bytes ? textOf(bytes).split("\n") : []) {
    const { trash, path, placement } = lineOf(line);
    if (typeof trash === "string" && isPlace(path, { home, placement })) origins.set(trash, path);
  }
  return origins;
}

/** @param {string} line @returns {Record<string, any>} */
function lineOf(line) {
  try {
    return JSON.parse(line) ?? {};
  } catch {
    return {}; // Torn: then nobody knows.
  }
}

// Whatever is written there, it leads nowhere but to where sessions lie.
/** @param {unknown} path @param {{ home: string, placement: unknown }} of @returns {path is string} */
function isPlace(path, { home, placement }) {
  if (typeof path !== "string" || !isAbsolute(path) || join(path) !== path) return false;
  if (placement !== "home" && placement !== "workspace") return false;
  const below = relative(placement === "home" ? home : conversationOf(path).workspace, path).split(sep).join("/");
  return called((core) => core.isSessionPath(below, placement === "workspace"));
}

// What an older leftoff deleted, in the home: its document says of which project it was.
/** @param {string} home @param {Record<string, any>} document @param {string} id */
function originBy(home, document, id) {
  // Only the name of the place is wanted: nothing is read or written for it.
  const { path } = new Home({ storage: /** @type {any} */ (undefined), home }).place(String(document.project?.hash ?? ""), id);
  return isPlace(path, { home, placement: "home" }) ? path : null;
}
