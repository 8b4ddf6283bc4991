// @ts-check
/**
 * Agents' sessions of which the store lacks something: those that an import would take in, `leftoff import --dry-run`;
 * and those that their own client soon deletes, `leftoff doctor --agents`.
 */

import { resolve } from "node:path";

import { agents } from "../wasm/agents.js";
import { followReadable, listAgentFiles } from "../agents/files.js";
import { findMissing, listChangedFiles } from "../agents/missing-sessions.js";
import { expiryOf, retentionDays } from "../agents/retention.js";
import { transcriptLocations } from "../agents/transcript-locations.js";
import { unlessBug } from "../error.js";
import { LeftoffError, NodeStorage } from "../index.js";
import { nowMs } from "../wasm/clock.js";
import { parseWholeNumber } from "./arguments.js";
import { formatCount, formatSize, note, progress } from "./print.js";
import { withStore } from "./store.js";

/** @typedef {import("../store/store.js").Store} Store */
/** @typedef {import("../storage/contract.js").Storage} Storage */
/** @typedef {import("../agents/files.js").AgentFile} AgentFile */
/**
 * A file that an import would read. `isNamed`: it was typed, so what is wrong with it is an error.
 * @typedef {Omit<AgentFile, "size"> & { agent?: string, isNamed?: boolean }} ListedFile
 */
/** @typedef {import("../agents/missing-sessions.js").MissingSession} MissingSession */
/**
 * A session that an import would take in. `bytes`: the file's length; `changed`: its last change, RFC 3339.
 * @typedef {MissingSession & { path: string, bytes: number, changed: string }} ImportableSession
 */
/**
 * A session that is soon deleted. `expires`: when its client may delete it, RFC 3339; `days`: how long that keeps it
 * after its last change.
 * @typedef {MissingSession & { path: string, expires: string, days: number }} ExpiringSession
 */

/** How long before it is deleted a session is told. */
const WARNING_MS = 14 * 86_400_000;

/** @param {Record<string, any>} args */
export async function listImportable(args) {
  const limit = args.limit === undefined ? Infinity : parseWholeNumber(args.limit, "limit");
  const { onProgress, end } = progress("reading", "file");
  const value = await withStore(args, async (store) => {
    const storage = new NodeStorage();
    /** @type {ImportableSession[]} */
    const found = [];
    try {
      const files = await listFiles(store, storage, args);
      for (const [done, file] of files.entries()) {
        if (found.length >= limit) break;
        onProgress({ path: file.path, done, total: files.length });
        found.push(...(await listInFile(store, storage, file)));
      }
    } finally {
      await storage.close();
    }
    return found.slice(0, limit);
  });
  end();
  return { text: renderImportable(value), value };
}

/**
 * The files that an import would read, those that changed last at first.
 * @param {Store} store @param {Storage} storage @param {Record<string, any>} args
 * @returns {Promise<ListedFile[]>}
 */
async function listFiles(store, storage, { all, from, _: paths }) {
  await agents.ready();
  if (all) return listChangedFiles(store, storage, await transcriptLocations(store));
  /** @type {ListedFile[]} */
  const found = [];
  for (const typed of paths) {
    const { path, stat } = await followReadable(storage, resolve(typed));
    if (!stat) throw new LeftoffError({ code: "not_found", message: `no file or folder "${path}"` });
    if (stat.kind === "folder")
      found.push(...(await listChangedFiles(store, storage, [{ path, is: () => true, agent: from }])));
    else found.push({ path, agent: from, bytes: stat.size, mtimeMs: stat.mtimeMs, isNamed: true });
  }
  return found;
}

/** @param {Store} store @param {Storage} storage @param {ListedFile} file */
async function listInFile(store, storage, { path, agent, bytes, mtimeMs, isNamed }) {
  /** @type {ImportableSession[]} */
  const found = [];
  try {
    for await (const missing of findMissing(store, storage, path, agent))
      found.push({ ...missing, path, bytes, changed: new Date(mtimeMs).toISOString() });
  } catch (error) {
    if (isNamed || !(error instanceof LeftoffError) || error.code === "internal") throw error;
    // Folders have files that are no session.
    if (!["unknown_format", "empty_file"].includes(error.code)) note(`${path}: ${error.message} (${error.code})`);
  }
  return found;
}

/** Reports them agent by agent. @param {ImportableSession[]} sessions */
function renderImportable(sessions) {
  const names = [...new Set(sessions.map(({ agent }) => agent))].sort();
  const parts = names.map((name) => {
    const own = sessions.filter(({ agent }) => agent === name);
    const lines = own.map((one) => {
      const { title, path, bytes, changed, session } = one;
      const kind = session ? "more" : "new";
      const about = `${JSON.stringify(title)}, ${countText(one)}, ${formatSize(bytes)}`;
      return `  ${changed.slice(0, 10)}  ${kind}  ${about}\n              ${path}\n`;
    });
    return `${name}: ${formatCount(own.length, "session")}\n${lines.join("")}`;
  });
  return sessions.length === 0 ? "nothing to import: the store has all of it\n" : parts.join("");
}

/** @param {Record<string, any>} args */
export async function listExpiring(args) {
  for (const other of ["fix", "secrets", "session"])
    if (args[other] || (other === "session" && args._.length > 0))
      throw new LeftoffError({
        code: "usage",
        message: `--agents looks at agents' files: leave out ${other === "session" ? "SESSION" : `--${other}`}`,
      });
  const value = await withStore(args, findExpiring);
  return { text: renderExpiring(value), value, failed: value.length > 0 };
}

/** @param {Store} store @returns {Promise<ExpiringSession[]>} those that are deleted first at first */
async function findExpiring(store) {
  const storage = new NodeStorage();
  /** @type {ExpiringSession[]} */
  const found = [];
  try {
    for (const place of await transcriptLocations(store)) {
      const days = await retentionDays(place, store);
      if (days === undefined) continue;
      for await (const { path, mtimeMs } of listAgentFiles(storage, place.path, place.is)) {
        const expiryMs = expiryOf(mtimeMs, days);
        if (expiryMs - nowMs() > WARNING_MS) continue;
        const expires = new Date(expiryMs).toISOString();
        try {
          for await (const missing of findMissing(store, storage, path))
            found.push({ ...missing, path, expires, days });
        } catch (error) {
          unlessBug(error);
        }
      }
    }
  } finally {
    await storage.close();
  }
  return found.sort((one, other) => (one.expires < other.expires ? -1 : 1));
}

/** @param {MissingSession} session */
const countText = ({ messageCount, newMessages }) =>
  newMessages === messageCount
    ? formatCount(messageCount, "message")
    : `${newMessages} of ${formatCount(messageCount, "message")}`;

/** @param {ExpiringSession[]} sessions */
function renderExpiring(sessions) {
  const [first] = sessions;
  if (!first) return "no session that its agent soon deletes is missing here\n";
  const lines = sessions.map((one) => {
    const { agent, title, path, expires } = one;
    return `  ${expires.slice(0, 10)}  ${agent}  ${JSON.stringify(title)}, ${countText(one)}\n              ${path}\n`;
  });
  return `not imported, and deleted by the agent's own client from this day on:\n${lines.join("")}'leftoff import --all' imports them\n`;
}
