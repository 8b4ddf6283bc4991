// @ts-check
/** `leftoff view`: opens a session in the browser. */

import { once } from "node:events";

import open from "open";

import { LeftoffError } from "../error.js";
import { note, printPiece } from "./print.js";
import { findSession, withStore } from "./store.js";
import { ViewServer } from "./view/server.js";

/** @param {Record<string, any>} args */
export async function view(args) {
  if (args.search !== undefined && args.session !== undefined)
    throw new LeftoffError({ code: "usage", message: "expected a session or --search, but found both" });
  const opened = await withStore(
    args,
    async (store) => {
      const session = args.search === undefined ? await findViewed(store, args) : undefined;
      const workspaces = await findWorkspaces(store, session);
      return { home: store.home, workspaces, session: session?.id, search: args.search };
    },
    "opening the session",
  );
  const server = new ViewServer(opened);
  try {
    const address = await server.start();
    await printPiece(args.json ? `${JSON.stringify({ address })}\n` : `${address}\n`);
    if (args.open && process.stdout.isTTY) await openBrowser(address);
    if (process.stdin.isTTY) note("press Ctrl+C to end");
    const signals = ["SIGINT", "SIGTERM"].map((signal) => once(process, signal));
    // A program that started it has the other end: what it does no longer want, it closes.
    const ends = process.stdin.isTTY ? [] : ["end", "close"].map((event) => once(process.stdin.resume(), event));
    await Promise.race([...signals, ...ends]);
  } finally {
    await server.close();
  }
  return { text: "", value: undefined };
}

/**
 * The session, or none where none is named and the project has none.
 * @param {import("../store/store.js").Store} store @param {Record<string, any>} args
 */
async function findViewed(store, args) {
  try {
    return await findSession(store, args);
  } catch (error) {
    if (error instanceof LeftoffError && error.code === "not_found" && args.session === undefined) return undefined;
    throw error;
  }
}

/**
 * The workspaces that have sessions, the viewed session's first, else the project's.
 * @param {import("../store/store.js").Store} store @param {import("../session/session.js").Session | undefined} session
 */
async function findWorkspaces(store, session) {
  const listed = await store.list({ all: true, type: null, archived: null });
  const found = [...(session ? [session] : []), ...listed]
    .filter(({ placement }) => placement === "workspace")
    .map(({ path }) => path.replace(/[\\/]conversations[\\/](?!.*[\\/]conversations[\\/]).*$/, ""));
  const isFirst = (/** @type {string} */ folder) =>
    (session?.placement === "workspace" ? found[0] : store.workspace) === folder;
  return [...new Set(found)].sort((a, b) => Number(isFirst(b)) - Number(isFirst(a)));
}

/** @param {URL} address */
async function openBrowser(address) {
  try {
    await open(String(address));
  } catch (error) {
    note(`could not start a browser: ${/** @type {Error} */ (error).message}`);
  }
}
