// @ts-check
/** The commands that change a session: begin, stop, complete, archive, rename, pin, fork, relocate, commit. */

import { LeftoffError } from "../index.js";
import { typedIn } from "../init/names.js";
import { parseAgent, updateTypedAgent } from "./input-files.js";
import { settleInWorkspace } from "./in-agent.js";
import { formatCount, note } from "./print.js";
import { findSession, withStore } from "./store.js";

/** @typedef {Record<string, any>} Args */
/** @typedef {import("../session/session.js").Session} Session */
/** @typedef {import("../store/store.js").Store} Store */

/** @param {Args} args */
export async function begin(args) {
  if (args.title !== undefined && !args.title.trim())
    throw new LeftoffError({ code: "usage", message: "--title is empty" });
  if (args.record === false) return { text: "nothing is recorded\n", value: { id: null, path: null } };
  return withStore(args, async (store) => {
    const { id, path } = await store.create({
      type: args.type,
      title: args.title,
      name: args.name,
      placement: args.here ? "workspace" : undefined,
      agent: await parseAgent(args),
    });
    return { text: `${id}\n    ${path}\n`, value: { id, path } };
  });
}

/** @param {Args} args */
export function stop(args) {
  return changeSession(args, async (found, store) => {
    const session = args.from ? await settleInWorkspace(store, found, args.from) : found;
    await updateTypedAgent(session, args);
    await session.stop({ summary: args.summary || undefined });
    const { display, summary } = session.metadata;
    const again = args.from ? typedIn(args.from, "resume", args) : `'leftoff resume ${session.id}'`;
    const saved = `Session saved.\n\nConversation "${display.title}" has been paused.\nYou can continue later with ${again}\n`;
    const committed = args.commit ? renderCommit(await commitPausedSession(store, session)) : "";
    return { said: `${saved}${summary ? `\nSummary: ${summary}\n` : ""}${committed}`, session };
  });
}

/** Commits a session that is paused by now; a refusal says that it is. @param {Store} store @param {Session} session */
async function commitPausedSession(store, session) {
  try {
    return await store.commit(session);
  } catch (error) {
    note(`"${session.metadata.display.title}" is paused; it was not committed`);
    throw error;
  }
}

/** @param {Args} args */
export function complete(args) {
  return changeSession(args, async (session) => {
    await session.complete({ summary: args.summary });
    return `"${session.metadata.display.title}" is complete\n`;
  });
}

/** @param {Args} args */
export function archive(args) {
  return changeSession(args, async (session) => {
    await session.archive();
    return `"${session.metadata.display.title}" is archived; 'leftoff list --status archived' shows it, 'leftoff unarchive ${session.id}' undoes this\n`;
  });
}

/** @param {Args} args */
export function unarchive(args) {
  return changeSession(args, async (session) => {
    const { archivedAt, display } = session.metadata;
    await session.unarchive();
    return archivedAt
      ? `"${display.title}" is no longer archived\n`
      : `"${display.title}" was not archived; 'leftoff list --status archived' shows what is\n`;
  });
}

/** @param {Args} args */
export function rename(args) {
  return changeSession(args, async (session) => {
    // Words as typed: a title needs no quotes.
    const [, ...words] = args._;
    await session.rename(words.join(" "));
    return `renamed to "${session.metadata.display.title}"\n`;
  });
}

/** @param {Args} args */
export function pin(args) {
  return changeSession(args, async (session) => {
    await session.pin(args.message);
    return "pinned: every context includes this message from now on\n";
  });
}

/** @param {Args} args */
export function unpin(args) {
  return changeSession(args, async (session) => {
    const wasPinned = (await session.pins()).includes(args.message);
    if (wasPinned) await session.unpin(args.message);
    return `the message ${wasPinned ? "is no longer" : "was not"} pinned\n`;
  });
}

/** @param {Args} args */
export async function fork(args) {
  return withStore(args, async (store) => {
    const session = await findSession(store, args);
    const { id, path, metadata } = await store.fork(session, { at: args.at });
    const at = args.at === undefined ? "" : ` at message ${args.at}`;
    const text = `forked "${session.metadata.display.title}"${at}. The fork is "${metadata.display.title}": ${id}\n`;
    return { text, value: { id, path, title: metadata.display.title } };
  });
}

/** @param {Args} args */
export async function relocate(args) {
  return withStore(args, async (store) => {
    const value = await store.relocate(args.old, args.new);
    return {
      text: `${formatCount(value.count, "session")} of ${args.old} now belong${value.count === 1 ? "s" : ""} to ${args.new}\n`,
      value,
    };
  });
}

/** @param {Args} args */
export async function commit(args) {
  return withStore(args, async (store) => {
    const value = await store.commit(await findSession(store, args));
    return { text: renderCommit(value), value };
  });
}

/**
 * @param {Args} args
 * @param {(session: Session, store: Store) => Promise<string | { said: string, session: Session }>} work says what it
 *   did; and
 *   with what, where that lies elsewhere now
 */
function changeSession(args, work) {
  return withStore(args, async (store) => {
    const found = await findSession(store, args);
    const answer = await work(found, store);
    const { said, session } = typeof answer === "string" ? { said: answer, session: found } : answer;
    const { id, lifecycle: status, archivedAt = null, display } = session.metadata;
    return { text: said, value: { id, status, title: display.title, archivedAt } };
  });
}

/** @param {import("../types/index.js").Committed} committed */
function renderCommit({ commit: hash, message }) {
  return hash ? `committed: ${message.split("\n")[0]} (${hash.slice(0, 12)})\n` : "nothing to commit\n";
}
