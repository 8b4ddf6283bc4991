// @ts-check
/** `leftoff trash` and `leftoff delete`: lists and restores deleted sessions, and deletes. */

import { LeftoffError } from "../index.js";
import { canAsk } from "./screen.js";
import { isNumber, findIdByNumber, rememberList } from "./numbered-lists.js";
import { findSession, withStore } from "./store.js";
import { cut } from "./width.js";

/** @typedef {Record<string, any>} Args */

/** The columns of a title that are enough to recognize it. */
const MAX_TITLE_CHARS = 50;

/** @param {Args} args */
export async function trash(args) {
  const { do: doing = "list", session: id } = args;
  if (doing === "list" ? id !== undefined : id === undefined) {
    throw new LeftoffError({
      code: "usage",
      message:
        doing === "list"
          ? `"trash list" takes no session; found "${id}"`
          : "name the session to restore; 'leftoff trash list' shows what is in the trash",
    });
  }
  return withStore(args, async (store) => {
    if (doing === "list") {
      const found = await store.trashed();
      if (!args.json) await rememberList(store, args, found);
      return renderTrash(found);
    }
    const value = await restoreTyped(store, args, id);
    return { text: `restored "${value.title}" to ${value.path}\n`, value };
  });
}

/** @param {import("../store/store.js").Store} store @param {Args} args @param {string} typed */
async function restoreTyped(store, args, typed) {
  try {
    return await store.restore(isNumber(typed) ? await findIdByNumber(store, args, typed) : typed);
  } catch (error) {
    if (error instanceof LeftoffError && error.message.startsWith("no session ")) {
      error.message = `no session "${typed}" in the trash; 'leftoff trash' lists its sessions`;
    }
    throw error;
  }
}

/** @param {import("../types/index.js").Trashed[]} found */
function renderTrash(found) {
  const lines = found.map(
    ({ id, title, deleted }, place) =>
      `${place + 1}. ${id}  ${deleted.slice(0, 16).replace("T", " ")}  ${cut(title.replace(/\s+/g, " "), MAX_TITLE_CHARS)}\n`,
  );
  return {
    text: lines.length > 0 ? `${lines.join("")}'leftoff trash restore N' restores one\n` : "the trash is empty\n",
    value: found,
  };
}

/** @param {Args} args */
export async function remove(args) {
  return withStore(args, async (store) => {
    const session = await findSession(store, { ...args, session: args.session ?? "" });
    const { id } = session;
    const { value: title } = await store.redacted(session.metadata.display.title);
    if (!(await isConfirmed(title, args)))
      return { text: "nothing was deleted\n", value: { id, title, deleted: false, trash: null } };
    const { trash: place } = await store.delete(session, { purge: args.purge });
    const text = place
      ? `moved "${title}" to the trash, ${place}; 'leftoff trash restore ${id}' restores it\n`
      : `deleted "${title}" for good\n`;
    return { text, value: { id, title, deleted: true, trash: place } };
  });
}

// Asks before deleting. Without a terminal nobody can be asked: then what can be restored is deleted, and the rest
// needs --yes.
/** @param {string} title @param {Args} args */
async function isConfirmed(title, args) {
  if (args.yes) return true;
  if (!canAsk(args)) {
    if (!args.purge) return true;
    throw new LeftoffError({
      code: "usage",
      message: `deleting "${title}" for good needs --yes when there is no terminal to ask at`,
    });
  }
  const { askYesNo } = await import("./prompts.js");
  return askYesNo(
    args,
    args.purge ? `Delete "${title}" for good? It cannot be brought back.` : `Put "${title}" in the trash?`,
  );
}
