// @ts-check
/**
 * The paths by which a store knows what lies in the folders that are open, and the files that were chosen. Stores know
 * no scheme and no host, so that a path that two of them have is another one for the later of them.
 */

/** @import { Uri, WorkspaceFolder } from "vscode" */

/** @typedef {{ uri: Uri, path: string }} Place */

export class FolderPaths {
  #taken;
  /** @type {Place[]} */
  #places = [];
  #chosen;

  /**
   * @param {readonly Pick<WorkspaceFolder, "uri" | "name">[]} folders that are open
   * @param {{ taken: string, chosen: Map<string, Uri> }} beside `taken`: a folder that is none of them; `chosen`: files
   *   that lie in none of them, by their paths
   */
  constructor(folders, { taken, chosen }) {
    this.#taken = taken;
    this.#chosen = chosen;
    for (const { uri, name } of folders) {
      const plain = withoutSlash(uri.path);
      const path = plain && this.#isFree(plain, uri) ? plain : `${originPath(uri)}${plain || `/${name}`}`;
      this.#places.push({ uri, path });
    }
  }

  /** The folders that are open, in their order. */
  get folders() {
    return this.#places.map(({ path }) => path);
  }

  /** Where a path lies, if anywhere. @param {string} path @returns {Uri | undefined} */
  uriOf(path) {
    const place = findDeepest(this.#places, (one) => isWithin(path, one.path) && one.path.length);
    if (!place) return this.#chosen.get(path);
    const { uri } = place;
    return uri.with({ path: `${withoutSlash(uri.path)}${path.slice(place.path.length)}` || "/" });
  }

  /** The path of a file or a folder, as a store knows it; a file outside all folders is kept in mind. @param {Uri} uri */
  pathOf(uri) {
    const place = findDeepest(this.#places, (one) => {
      const folder = withoutSlash(one.uri.path);
      return originOf(one.uri) === originOf(uri) && isWithin(uri.path, folder) && folder.length;
    });
    if (place) return withoutSlash(`${place.path}${uri.path.slice(withoutSlash(place.uri.path).length)}`);
    const known = this.#chosen.get(uri.path);
    const isFree = this.#isFree(uri.path, uri) && (!known || originOf(known) === originOf(uri));
    const path = isFree ? uri.path : `${originPath(uri)}${uri.path}`;
    this.#chosen.set(path, uri);
    return path;
  }

  /** Whether a path may be that of what lies there: no folder from elsewhere has it. @param {string} path @param {Uri} uri */
  #isFree(path, uri) {
    const others = this.#places.filter((one) => originOf(one.uri) !== originOf(uri)).map((one) => one.path);
    return ![this.#taken, ...others].some((other) => isWithin(path, other) || isWithin(other, path));
  }
}

/** What a path does not say of an address. @param {Uri} uri */
const originOf = ({ scheme, authority, query }) => `${scheme}://${authority}${query && `?${query}`}`;

/** @param {Uri} uri */
const originPath = (uri) => `/${encodeURIComponent(originOf(uri))}`;

/** @param {string} path */
const withoutSlash = (path) => (path.endsWith("/") ? path.slice(0, -1) : path);

/** @param {string} path @param {string} folder */
const isWithin = (path, folder) => path === folder || path.startsWith(`${folder}/`);

/**
 * The folder that has something: one that is open may lie in another one.
 * @param {Place[]} places @param {(place: Place) => number | false} lengthOf how long its path is, if it has it
 * @returns {Place | undefined}
 */
function findDeepest(places, lengthOf) {
  const having = places.filter((place) => lengthOf(place) !== false);
  return having.sort((one, other) => Number(lengthOf(other)) - Number(lengthOf(one)))[0];
}
