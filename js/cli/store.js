// @ts-check
/** The store and the session that a command is about. */

import { LeftoffError, openStore } from "../index.js";
import { ranked } from "../search.js";
import { conversationIn } from "./in-agent.js";
import { didYouMean, nearest } from "./nearest.js";
import { note } from "./print.js";
import { cut } from "./width.js";

/** @typedef {import("../store.js").Store} Store */

/** Of more sessions it is not told that they may be meant. */
const OFFERED = 3;
/** So many columns of a title tell which one it is. */
const TITLE = 50;

/**
 * Opens the store for one command.
 * @template T
 * @param {Record<string, any>} args
 * @param {(store: Store) => Promise<T>} work
 */
export async function using(args, work) {
  const store = await openStore({ home: args.home, project: args.workspace, redact: args.redact });
  for (const { message } of store.problems) note(message);
  try {
    const { value } = await store.redacted(await work(store));
    for (const { path, notice } of store.notices()) note(`${path}: ${notice.message}`);
    for (const { rule, placeholder, count } of store.secrets) note(`a secret (${rule}) is in this ${count === 1 ? "once" : `${count} times`}: ${placeholder}`);
    return value;
  } catch (error) {
    if (!(error instanceof LeftoffError)) throw error;
    error.message = (await store.redacted(error.message)).value;
    throw error;
  } finally {
    await store.close();
  }
}

/**
 * The session that is meant.
 * @param {Store} store @param {Record<string, any>} args
 * @param {{ offers?: boolean }} [options] `offers`: where there is none, those are named that resemble it; true unless given
 */
export async function chosen(store, args, { offers = true } = {}) {
  if (args.from && args.session === undefined) return conversationIn(store, args.from);
  const isNamed = args.session !== undefined && args.session !== "last";
  const named = () => store.session(args.session);
  const session = isNamed ? await (offers ? offering(store, args.session, named) : named()) : await store.current();
  if (!session) throw new LeftoffError({ code: "not_found", message: "expected a session of this project, but found none; 'leftoff list --all' shows the others" });
  for (const { message } of session.notices.splice(0)) note(message);
  return session;
}

/**
 * Does something with the session of an id; where there is none, those are named that resemble it.
 * @template T @param {Store} store @param {string} id @param {() => Promise<T>} work
 */
export async function offering(store, id, work) {
  try {
    return await work();
  } catch (error) {
    if (error instanceof LeftoffError && error.code === "not_found") error.message += await offered(store, id);
    throw error;
  }
}

/** Sessions that an id, or what was taken for one, may mean. @param {Store} store @param {string} typed */
async function offered(store, typed) {
  if (!typed.trim()) return "";
  const all = await store.list({ all: true, type: null, archived: null });
  // Of an id the beginning is typed.
  const near = new Set(nearest(typed, all.flatMap(({ id, name }) => [id.slice(0, typed.length), ...(name ? [name] : [])])));
  const resembling = all.filter(({ id, name }) => near.has(id.slice(0, typed.length)) || (name && near.has(name)));
  const some = resembling.length > 0 ? resembling : ranked(typed, all);
  const told = some.slice(0, OFFERED).map(({ id, title }) => `${id} "${cut(title.replace(/\s+/g, " "), TITLE)}"`);
  return told.length > 0 ? didYouMean(told) : "; 'leftoff list --all' shows those there are";
}
