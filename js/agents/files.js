// @ts-check
/** Finds agents' files and reads what each holds, one session at a time. */

import { realPathAsFar } from "../host/host.node.js";
import { join, relative, resolve, sep } from "../host/path.node.js";

import { LeftoffError, unlessBug } from "../error.js";
import { joinBytes } from "../storage/bytes.js";
import { agents } from "../wasm/agents.js";
import { bytesOf } from "../wasm/core.js";
import { checkKind } from "../wasm/options.js";
import { queryClients } from "./clients.js";
import { isZstd, unpackZstd } from "./zstd.js";

/** @import { FolderFilter } from "./opencode.js" */
/** @import { TranscriptLocation } from "./transcript-locations.js" */
/** @import { Storage } from "../storage/contract.js" */

/**
 * One document read from a file: the whole file, or one session of many.
 * @typedef {{ bytes: Uint8Array, isAlone: boolean, error?: LeftoffError }} Document `error`: why one session of many
 *   cannot be read
 */
/**
 * @typedef {{ path: string, size: string, bytes: number, mtimeMs: number }} AgentFile a file, or a folder that is read
 *   as one; `size` is another once it has changed
 */

const SQLITE_MAGIC = "SQLite format 3\0";
// The length of the head of SQLite's write-ahead log, which has what is not in the database yet.
const WAL_HEAD_BYTES = 32;

/**
 * Lists the files below a folder, or the file itself.
 * @param {Storage} storage @param {string} root @param {(path: string) => boolean} is tests a path below it, with `/`
 * @returns {AsyncGenerator<AgentFile>}
 */
export async function* listAgentFiles(storage, root, is) {
  for await (const { path, name, stat } of walkFiles(storage, root, isTree)) {
    if (stat.kind === "folder") {
      yield { path, ...(await sizeOf(storage, path)), mtimeMs: stat.mtimeMs };
    } else if (is(relativePath(root, name))) {
      const log = await storage.stat(`${path}-wal`).catch(unlessBug);
      yield {
        path,
        size: [stat.size, stat.mtimeMs, ...(log ? [log.size, log.mtimeMs] : [])].join(" "),
        bytes: stat.size,
        mtimeMs: stat.mtimeMs,
      };
    }
  }
}

/** Lists the files of all agents, as they are now. @param {Storage} storage @param {TranscriptLocation[]} kept */
export async function collectAgentFiles(storage, kept) {
  const all = [];
  for (const { path: root, is, agent } of kept)
    for await (const { mtimeMs, ...file } of listAgentFiles(storage, root, is))
      all.push({ ...file, agent, changed: Math.trunc(mtimeMs) });
  return all;
}

/**
 * Lists the files at paths: of one that is a file, as its user named it.
 * @param {Storage} storage @param {string | string[]} paths
 */
export async function listNamedFiles(storage, paths) {
  const places = [];
  for (const one of [paths].flat()) {
    const { path, stat } = await followReadable(storage, resolve(checkKind("path", one, "/")));
    if (!Array.isArray(paths) && stat?.kind !== "folder")
      return { isNamed: true, files: [{ path, bytes: stat?.size, changed: stat && Math.trunc(stat.mtimeMs) }] };
    places.push({ path, is: () => true });
  }
  return { files: await collectAgentFiles(storage, places) };
}

/**
 * Reads a file's documents: the file itself; or each session of a database or of OpenCode's folders.
 * @param {Storage} storage @param {string} path @param {FolderFilter} [only] limits a database
 * @returns {AsyncGenerator<Document>}
 */
export async function* documents(storage, path, only) {
  const stat = await storage.stat(path);
  if (stat?.kind === "folder") {
    /** @type {Map<string, string>} */
    const paths = new Map();
    for await (const file of walkFiles(storage, path)) paths.set(relativePath(path, file.name), file.path);
    const read = async (/** @type {string} */ name) =>
      (await storage.read(paths.get(name) ?? join(path, name))) ?? new Uint8Array();
    for await (const text of sessionsOfTree([...paths.keys()], read)) yield { bytes: bytesOf(text), isAlone: false };
    return;
  }
  const head = await storage.readRange(path, 0, SQLITE_MAGIC.length);
  if (new TextDecoder().decode(head ?? undefined) !== SQLITE_MAGIC) {
    yield { bytes: await readDecompressed(storage, path), isAlone: true };
    return;
  }
  const { sessionsOfDatabase } = await import("./opencode.js");
  for await (const { bytes, error } of sessionsOfDatabase({ ...(await readDatabase(storage, path)), only }))
    yield { bytes, error, isAlone: false };
}

/** @param {Storage} storage @param {string} path */
async function readDecompressed(storage, path) {
  const bytes = await readExistingFile(storage, path);
  return isZstd(bytes) ? unpackZstd(bytes, path) : bytes;
}

/** @param {Storage} storage @param {string} path */
async function readExistingFile(storage, path) {
  const bytes = await storage.read(path);
  if (!bytes) throw new LeftoffError({ code: "not_found", message: `no file or folder "${path}"` });
  return bytes;
}

// Reads a database and its log. The client may write meanwhile: a log begun anew means that the database has the old
// one's content.
/** @param {Storage} storage @param {string} path */
async function readDatabase(storage, path) {
  const head = async () => String((await storage.readRange(`${path}-wal`, 0, WAL_HEAD_BYTES)) ?? "");
  for (;;) {
    const before = await head();
    const database = await readExistingFile(storage, path);
    const wal = (await storage.read(`${path}-wal`)) ?? undefined;
    if (String(wal?.subarray(0, WAL_HEAD_BYTES) ?? "") === before) return { database, wal };
  }
}

/**
 * Reads the sessions of OpenCode's folders, one after another.
 * @param {string[]} paths all files' paths below it, with `/`
 * @param {(path: string) => Promise<Uint8Array>} read
 */
export async function* sessionsOfTree(paths, read) {
  const filled = async (/** @type {string[]} */ some) => {
    const files = [];
    for (const path of some) files.push(await read(path));
    return { names: some, lengths: files.map(({ length }) => length), bytes: joinBytes(files) };
  };
  const first = await filled(queryClients("place.first", [paths]));
  /** @type {string[][]} */
  const groups = queryClients("place.groups", [paths, first.names, first.lengths], first.bytes);
  for (const group of groups) {
    const { names, lengths, bytes } = await filled(group);
    yield* agents.call((core) => core.sessionsOfTree(names, Uint32Array.from(lengths), bytes));
  }
}

// Whether these are OpenCode's folders, from before it had a database.
/** @param {{ name: string, kind: string }[]} entries */
function isTree(entries) {
  const folders = entries.filter(({ kind }) => kind === "folder").map(({ name }) => name);
  return folders.length > 0 && queryClients("place.isTree", [folders]);
}

/** @param {Storage} storage @param {string} path */
async function sizeOf(storage, path) {
  let [count, newest, bytes] = [0, 0, 0];
  for await (const { stat } of walkFiles(storage, path))
    [count, newest, bytes] = [count + 1, Math.max(newest, stat.mtimeMs), bytes + stat.size];
  return { size: `${count} ${newest} ${bytes}`, bytes };
}

/**
 * Walks the files below a path, and the folders that count as one. Links are followed and each folder is visited once:
 * people keep their agents' files elsewhere, and link to them.
 * @param {Storage} storage @param {string} path @param {(entries: { name: string, kind: string }[]) => boolean} [isOne]
 * @param {{ name?: string, met?: Set<string> }} [way] `name`: the path by which it was reached
 * @returns {AsyncGenerator<{ path: string, name: string, stat: import("../storage/contract.js").Stat }>}
 */
async function* walkFiles(storage, path, isOne = () => false, { name = path, met = new Set() } = {}) {
  const { path: real, stat } = (await followLink(storage, path).catch(unlessBug)) ?? { path };
  if (!stat || met.has(real)) return;
  const entries = stat.kind === "folder" ? ((await storage.list(real).catch(unlessBug)) ?? []) : [];
  if (stat.kind === "folder") met.add(real);
  if (stat.kind === "file" || isOne(entries)) yield { path: real, name, stat };
  else
    for (const entry of entries)
      yield* walkFiles(storage, join(real, entry.name), isOne, { name: join(name, entry.name), met });
}

/** Follows links to where a path leads, and stats that. @param {Storage} storage @param {string} path */
export async function followLink(storage, path) {
  const found = await storage.stat(path);
  const real = found?.kind === "other" ? realPathAsFar(path) : path;
  return { path: real, stat: real === path ? found : await storage.stat(real) };
}

/**
 * `followLink` for an import, which refuses an unreadable folder: it would look empty.
 * @param {Storage} storage
 * @param {string} path
 */
export async function followReadable(storage, path) {
  const followed = await followLink(storage, path);
  if (followed.stat?.kind === "folder") await storage.list(followed.path);
  return followed;
}

/** @param {string} root @param {string} path */
function relativePath(root, path) {
  return relative(root, path).split(sep).join("/");
}
