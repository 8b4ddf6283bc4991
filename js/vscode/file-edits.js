// @ts-check
/** Which sessions changed a file, and their edits of it: by the calls of their tools. Nothing here knows the editor. */

import { basename } from "../host/path.node.js";
import { describeCall } from "../viewer/calls.js";

/** @import { Found, Listed, ReadCall, ReadMessage, Store } from "../index.js" */
/** @import { Change } from "../viewer/changes.js" */

/** @typedef {{ path: string, folder: string, relative: string }} FileInFolder `relative`: its path in the folder */
/**
 * @typedef {{ session: Listed, isOwn: boolean, hits: Found[] }} SessionOfFile
 *   `isOwn`: of the file's project; `hits`: its latest changes, at most three
 */
/** @typedef {(session: Listed) => string | undefined} FolderOf the folder that brings a session, where one does */
/** @typedef {{ session: Listed, edits: FileEdit[], messages: string[] }} ChangesOfFile `messages`: that changed it */
/**
 * @typedef {{ session: Listed, message: string, time: string, tool: string, change: Change, kind: "edit" | "patch" | "command" }} FileEdit
 *   `command`: one that names the file; its lines are the change's
 */
/** @typedef {{ session: Listed, isFile: (path: string) => boolean, name: string }} SearchedEdits `name`: the file's */

const COMMAND_KEYS = ["command", "cmd", "script"];

/** @param {string} path */
const withSlashes = (path) => path.replaceAll("\\", "/");

/**
 * What sessions did to a file; a session whose edits all failed did nothing.
 * @param {Store} store @param {FileInFolder} file @param {FolderOf} [folderOf]
 * @returns {Promise<ChangesOfFile[]>} the last active session first
 */
export async function findChanges(store, file, folderOf) {
  const changes = [];
  for (const of of await findSessionsOf(store, file, folderOf)) {
    const edits = await readEdits(store, of, file);
    const ids = edits.flatMap(({ kind, message }) => (kind === "command" ? [] : [message]));
    const messages = [...new Set([...commandsOf(of).flatMap(({ id }) => id ?? []), ...ids])];
    if (messages.length > 0) changes.push({ session: of.session, edits, messages });
  }
  return changes;
}

/**
 * Counts the sessions that `findChanges` finds, and reads of each no more than that takes.
 * @param {Store} store @param {FileInFolder} file @param {FolderOf} [folderOf]
 */
export async function countSessions(store, file, folderOf) {
  let count = 0;
  for (const of of await findSessionsOf(store, file, folderOf))
    if (commandsOf(of).length > 0 || (await hasEdit(store, of, file))) count += 1;
  return count;
}

/** The commands that changed the file, among the latest changes. @param {SessionOfFile} of */
const commandsOf = ({ hits }) => hits.filter(({ command, exitCode }) => command !== undefined && !exitCode);

/** @param {Store} store @param {SessionOfFile} of @param {FileInFolder} file */
async function hasEdit(store, of, file) {
  const searched = searchedIn(of, file);
  /** @type {Map<string, ReadMessage>} */
  const results = new Map();
  const isEdit = (/** @type {ReadMessage} */ message) =>
    editsOf(message, results, searched).some(({ kind }) => kind !== "command");
  /** @type {ReadMessage[]} */
  const undecided = [];
  for await (const message of store.newestMessages(of.session)) {
    const { tool, assistant } = message;
    if (tool && !results.has(tool.callId)) results.set(tool.callId, message);
    // Read backwards, a result comes before its call, but for some agents' and for those that have none.
    if (assistant?.toolCalls?.some(({ id }) => !results.has(id))) undecided.push(message);
    else if (isEdit(message)) return true;
  }
  return undecided.some(isEdit);
}

/**
 * The sessions that changed a file, the last active first, of sub-agents too, and of worktrees and clones.
 * @param {Store} store @param {FileInFolder} file @param {FolderOf} [folderOf]
 * @returns {Promise<SessionOfFile[]>}
 */
export async function findSessionsOf(store, file, folderOf = () => undefined) {
  const every = { type: null, archived: null };
  // By its folder alone a project's worktrees and clones are not found, so it is named only where it is another one.
  const folder = [store.project, ""].includes(file.folder) ? undefined : file.folder;
  const own = new Set((await store.list({ ...every, folder })).map(({ id }) => id));
  /** @type {Map<string, SessionOfFile>} */
  const known = new Map();
  for await (const found of store.search("", { ...every, all: true, file: file.relative })) {
    const { session, excerpt, isChanged } = found;
    const isOwn = own.has(session.id) || (file.folder !== "" && folderOf(session) === file.folder);
    if (!isChanged || !isSameFile(excerpt.at(-1)?.text ?? "", file, session.project, isOwn)) continue;
    const one = known.get(session.id) ?? { session, isOwn, hits: [] };
    one.hits.push(found);
    known.set(session.id, one);
  }
  return [...known.values()].sort((one, other) => (one.session.lastActive < other.session.lastActive ? 1 : -1));
}

/**
 * Whether a path that a session names is this file, here or in another copy of the project.
 * @param {string} named @param {FileInFolder} file @param {string | undefined} project the session's folder
 * @param {boolean} isOwn whether the session is of the file's project
 */
export function isSameFile(named, { path, folder, relative }, project, isOwn) {
  const [whole, own, root] = [path, relative, project ?? ""].map(withSlashes);
  const bare = withSlashes(named).replace(/^(\.\/)+/, "");
  const at = /^(\/|[a-z]:\/)/i.test(bare) ? bare : `${root}/${bare}`;
  if (at === whole) return true;
  if (!at.endsWith(`/${own}`)) return false;
  const copy = at.slice(0, -own.length - 1);
  return isOwn ? copy === root : folder !== "" && basename(copy) === basename(folder);
}

/**
 * The edits of a file in a session, in their order; those that failed changed nothing.
 * @param {Store} store @param {SessionOfFile} of @param {FileInFolder} file
 * @returns {Promise<FileEdit[]>}
 */
export async function readEdits(store, of, file) {
  // Whoever only looks at a file opens no session.
  const messages = [];
  for await (const message of store.newestMessages(of.session)) messages.push(message);
  return editsIn(messages.reverse(), searchedIn(of, file));
}

/** @param {SessionOfFile} of @param {FileInFolder} file @returns {SearchedEdits} */
const searchedIn = ({ session, isOwn }, file) => ({
  session,
  isFile: (path) => isSameFile(path, file, session.project, isOwn),
  name: basename(file.path),
});

/** @param {readonly ReadMessage[]} messages @param {SearchedEdits} searched @returns {FileEdit[]} */
export function editsIn(messages, searched) {
  const results = new Map(messages.flatMap((message) => (message.tool ? [[message.tool.callId, message]] : [])));
  return messages.flatMap((message) => editsOf(message, results, searched));
}

/**
 * @param {ReadMessage} message @param {Map<string, ReadMessage>} results those of calls @param {SearchedEdits} searched
 * @returns {FileEdit[]}
 */
function editsOf({ id, timestamp, assistant }, results, { session, isFile, name }) {
  /** @param {ReadCall} call @returns {FileEdit[]} */
  const editsBy = (call) => {
    const { failed, changes } = describeCall(call, results.get(call.id), timestamp);
    if (failed) return [];
    const made = { session, message: id, time: timestamp ?? session.lastActive, tool: call.name };
    const kind = call.arguments.includes("*** Begin Patch") ? "patch" : "edit";
    if (changes.length > 0)
      return changes.filter(({ path }) => isFile(path)).map((change) => ({ ...made, kind, change }));
    const lines = linesOfCommand(call.arguments);
    if (!lines.some((line) => line.includes(name))) return [];
    return [
      { ...made, kind: "command", change: { path: name, from: undefined, removed: [], added: lines, isNew: false } },
    ];
  };
  return (assistant?.toolCalls ?? []).flatMap(editsBy);
}

/** @param {string} text a call's arguments @returns {string[]} */
function linesOfCommand(text) {
  try {
    const input = JSON.parse(text);
    const command = COMMAND_KEYS.map((key) => input?.[key]).find((value) => value !== undefined);
    return [command].flat().flatMap((part) => (typeof part === "string" ? part.split("\n") : []));
  } catch {
    // Not JSON: no command of a shell.
    return [];
  }
}
