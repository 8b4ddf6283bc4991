// @ts-check
/** The store and the session that a command is about. */

import { LeftoffError, openStore } from "../index.js";
import { REDACT } from "../redaction.js";
import { conversationIn } from "./in-agent.js";
import { note } from "./print.js";

/**
 * Opens the store for one command.
 * @template T
 * @param {Record<string, any>} args
 * @param {(store: import("../store.js").Store) => Promise<T>} work
 */
export async function using(args, work) {
  if (args.redact !== undefined && !REDACT.includes(args.redact)) {
    throw new LeftoffError({ code: "usage", message: `expected ${REDACT.join(", ")} for --redact, but found "${args.redact}" instead` });
  }
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

/** @param {import("../store.js").Store} store @param {Record<string, any>} args */
export async function chosen(store, args) {
  if (args.from && args.session === undefined) return conversationIn(store, args.from);
  const isNamed = args.session !== undefined && args.session !== "last";
  const session = isNamed ? await store.session(args.session) : await store.current();
  if (!session) throw new LeftoffError({ code: "not_found", message: "expected a session of this project, but found none; 'leftoff list --all' shows the others" });
  for (const { message } of session.notices.splice(0)) note(message);
  return session;
}
