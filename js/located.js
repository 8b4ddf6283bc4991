// @ts-check
/** Where one session lies, by its whole id or a project's pointer, without a list of all. */

import { unlessBug } from "./error.js";
import { prints } from "./placement.js";
import { pointed } from "./pointer.js";

/** @import { Project } from "./project.js" */
/** @import { Entry, Listing } from "./listing.js" */
/** @import { Place } from "./placement.js" */
/** @import { Places } from "./places.js" */

/** A whole id, as leftoff gives it. What is shorter may be the beginning of several, what is another a name. */
const WHOLE = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/**
 * The places of a whole id: more than one where copies are known. In the home they are named by it, in whatever project;
 * elsewhere the index says where they lie, and it is looked whether they still do. None where only a list can tell.
 * @param {string} id @param {{ places: Places, listing: Listing }} where
 * @returns {Promise<{ id: string, name?: string, path: string, placement: "home" | "workspace" }[]>}
 */
export async function located(id, { places, listing }) {
  if (!WHOLE.test(id)) return [];
  const found = [];
  for (const place of await inHome(id, places)) found.push({ id, path: place.path, placement: place.placement });
  for (const entry of await listing.mentioned(id)) {
    if (found.some(({ path }) => path === entry.path)) continue;
    const looked = await listing.looked({ ...places.of(entry), files: [] });
    if ((await places.moves.hidden()).has(entry.path)) continue;
    found.push(...looked.map(({ entry }) => entry).filter((one) => one.id === id || one.name === id));
  }
  return found;
}

/**
 * Where a session lies now that was moved, by whomever.
 * @param {string} id @param {{ places: Places, listing: Listing }} where
 * @returns {Promise<Place | undefined>}
 */
export async function whereabouts(id, { places, listing }) {
  const [inHomeNow] = await inHome(id, places);
  if (inHomeNow) return inHomeNow;
  for (const place of await places.inWorkspaces()) {
    if (!(await listing.looked(place)).some(({ entry }) => entry.id === id)) continue;
    if (!(await places.moves.hidden()).has(place.path)) return places.moves.now(place);
  }
  return undefined;
}

/** @param {string} id @param {Places} places @returns {Promise<Place[]>} */
async function inHome(id, { home, moves }) {
  const found = [];
  for (const hash of await home.projects()) {
    const place = home.place(hash, id);
    if (await isSession(place)) found.push(place);
  }
  // Looked at last: whoever moves one there says so before anything is there.
  const hidden = found.length > 0 ? await moves.hidden() : new Set();
  return found.filter(({ path }) => !hidden.has(path));
}

// As a list has it: a folder with nothing in it was only begun. One that may not be looked at is told by its opening.
/** @param {Place} place */
async function isSession(place) {
  const folder = await place.storage.stat(place.path).catch(unlessBug);
  if (folder?.kind !== "folder") return false;
  const files = await prints(place).catch(unlessBug);
  return !files || files.some((file) => file?.[0]);
}

/**
 * What a project's pointer says, and the session there, as its files are now: where it lies in the project's own folder of
 * the home, or in its workspace.
 * @param {Project} project @param {{ places: Places, listing: Listing }} where
 * @returns {Promise<{ pointer?: { id: string, path: string }, entry?: Entry }>}
 */
export async function pointedTo(project, { places, listing }) {
  const pointer = await pointed(places.storageOf(project.path), project.path);
  const place = pointer && places.ofPointer(pointer.path, project);
  const looked = place ? await listing.looked({ ...place, files: [] }) : [];
  return { pointer, entry: looked.map(({ entry }) => entry).find(({ id }) => id === pointer?.id) };
}
