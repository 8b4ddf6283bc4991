// @ts-check
/**
 * The lists that were shown, so that a number means what stood behind it: kept in the home's cache by the terminal, or
 * the agent's client, that showed it. Where there is no terminal, a number means the project's last list.
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

/** More sessions than these nobody numbers; longer numbers begin an id. */
const NUMBER = /^[1-9]\d{0,4}$/;

/** Whether what was typed is a number of a list. @param {string} typed */
export const isNumber = (typed) => NUMBER.test(typed);

/** Keeps what is about to be shown with numbers. @param {Store} store @param {Args} args @param {{ id: string }[]} listed */
export async function rememberList(store, args, listed) {
  // A list of a store that is not there makes none.
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

/** The id behind a number of the list that was shown last. @param {Store} store @param {Args} args @param {string} typed */
export async function findIdByNumber(store, args, typed) {
  const storage = new NodeStorage({ root: store.home });
  try {
    const [path = ""] = cachePaths(store, args);
    const ids = await readIds(storage, path);
    const id = ids?.[Number(typed) - 1];
    if (typeof id === "string") return id;
    const why = ids === undefined ? "no list was shown here yet" : ids.length === 0 ? "the last list was empty" : `the last list ended at ${ids.length}`;
    throw new LeftoffError({ code: "not_found", message: `no session ${typed}: ${why}. Run 'leftoff list'` });
  } finally {
    await storage.close();
  }
}

// One that cannot be read is as good as none.
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

/** Where a list is kept: whose it is first, of which numbers are; then the project's. @param {Store} store @param {Args} args */
function cachePaths({ home, project }, { from }) {
  const own = from ? `${from} ${project}` : terminal();
  const of = (/** @type {string} */ whose) => join(home, "cache", "shown", `${createHash("sha256").update(whose).digest("hex").slice(0, 16)}.json`);
  return [...(own ? [of(own)] : []), of(project)];
}

/** Which terminal this is, as long as it is open. */
function terminal() {
  const fd = [0, 1, 2].find((one) => isatty(one));
  if (fd === undefined) return undefined;
  return `terminal ${fstatSync(fd).rdev} ${login() ?? ""}`;
}

// A terminal's number is given to the next one when it is closed; on Linux its login is another one then.
function login() {
  const PATH = "/proc/self/stat";
  return existsSync(PATH) ? readFileSync(PATH, "utf8").split(")").at(-1)?.split(" ")[4] : undefined;
}
