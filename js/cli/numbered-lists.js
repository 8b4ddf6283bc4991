// @ts-check
/**
 * Remembers the lists that were shown, so that a number means the session behind it. They are kept in the home's cache
 * for each terminal or agent's client that showed one. Without a terminal, a number means the project's last list.
 */

import { createHash } from "node:crypto";
import { existsSync, fstatSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { isatty } from "node:tty";

import { bytesOf, fromBytes } from "../wasm/core.js";
import { unlessBug } from "../error.js";
import { LeftoffError, NodeStorage } from "../index.js";
import { note } from "./print.js";

/** @typedef {Record<string, any>} Args */
/** @typedef {import("../store/store.js").Store} Store */

/** A number of a list, five digits at most: longer ones begin an id. */
const NUMBER_PATTERN = /^[1-9]\d{0,4}$/;

/** Whether the typed word can be a number of a list. @param {string} typed */
export const isNumber = (typed) => NUMBER_PATTERN.test(typed);

/**
 * Remembers a list that is about to be shown with numbers.
 * @param {Store} store
 * @param {Args} args
 * @param {{ id: string }[]} listed
 */
export async function rememberList(store, args, listed) {
  // An empty list of a store that is not there must not create the store.
  if (!existsSync(store.home)) return;
  const storage = new NodeStorage({ root: store.home });
  const bytes = bytesOf(JSON.stringify({ v: 1, ids: listed.map(({ id }) => id) }));
  try {
    for (const path of cachePaths(store, args)) await storage.replace(path, bytes);
  } catch (error) {
    unlessBug(error);
    note("the list's numbers could not be saved: name a session by its id");
  } finally {
    await storage.close();
  }
}

/**
 * The id behind a number of the list that was shown last.
 * @param {Store} store
 * @param {Args} args
 * @param {string} typed
 */
export async function findIdByNumber(store, args, typed) {
  const storage = new NodeStorage({ root: store.home });
  try {
    const [path = ""] = cachePaths(store, args);
    const ids = await readIds(storage, path);
    const id = ids?.[Number(typed) - 1];
    if (typeof id === "string") return id;
    const why =
      ids === undefined
        ? "no list was shown here yet"
        : ids.length === 0
          ? "the last list was empty"
          : `the last list ended at ${ids.length}`;
    throw new LeftoffError({ code: "not_found", message: `no session ${typed}: ${why}. Run 'leftoff list'` });
  } finally {
    await storage.close();
  }
}

// A list that cannot be read counts as absent.
/** @param {NodeStorage} storage @param {string} path @returns {Promise<unknown[] | undefined>} */
async function readIds(storage, path) {
  try {
    const bytes = await storage.read(path);
    const ids = bytes && fromBytes(bytes)?.ids;
    return Array.isArray(ids) ? ids : undefined;
  } catch (error) {
    return error instanceof SyntaxError ? undefined : void unlessBug(error);
  }
}

/**
 * A list's files: first the terminal's or client's, which numbers refer to; then the project's.
 * @param {Store} store
 * @param {Args} args
 */
function cachePaths({ home, project }, { from }) {
  const own = from ? `${from} ${project}` : terminal();
  const of = (/** @type {string} */ whose) =>
    join(home, "cache", "shown", `${createHash("sha256").update(whose).digest("hex").slice(0, 16)}.json`);
  return [...(own ? [of(own)] : []), of(project)];
}

/** A name of this terminal, for as long as it is open. */
function terminal() {
  const fd = [0, 1, 2].find((one) => isatty(one));
  if (fd === undefined) return undefined;
  return `terminal ${fstatSync(fd).rdev} ${login() ?? ""}`;
}

// The terminal's login: a closed terminal's number is given to the next one, which on Linux then has another login.
function login() {
  const STAT_PATH = "/proc/self/stat";
  return existsSync(STAT_PATH) ? readFileSync(STAT_PATH, "utf8").split(")").at(-1)?.split(" ")[4] : undefined;
}
