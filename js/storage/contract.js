// @ts-check

/**
 * The contract of a storage. `tests/js/storage-contract.js` holds every storage to it.
 *
 * Paths are absolute and normalized, with `/` (on Windows: what `path.resolve` gives). Offsets and sizes are bytes.
 * Null means only that nothing is there; a parent that is a file counts as nothing being there. Any other failure
 * rejects with a `LeftoffError` whose message names the path, whose `cause` is the system's error, and whose `code`
 * is one of:
 *
 * | code | |
 * |---|---|
 * | `permission_denied` | the user may not do this there |
 * | `disk_full` | no space, quota used up, file size limit, or a write that the system cut short |
 * | `read_only` | the filesystem is mounted read-only |
 * | `too_many_files` | the process or the system has no file descriptor left |
 * | `not_a_file` | a folder, link or device stands where a file is wanted |
 * | `not_a_folder` | a file stands where a folder is wanted |
 * | `outside_store` | only of a storage with a root: the path does not lie in it, or a link stands on the way |
 * | `invalid_range` | a range that is not `0 <= start <= end` |
 * | `invalid_path` | a folder is to be moved into itself, or a name to be looked for in folders is no plain name |
 * | `not_found` | of `move`: nothing is there to be moved; of `append` and `replace`: the folder `within` is not there
 * |
 * | `already_exists` | of `move` and `link`: something is at the target |
 * | `other_filesystem` | only of `move`: the system cannot move so far; the caller may copy |
 * | `storage_closed` | the storage was closed |
 * | `storage_failed` | anything else |
 *
 * A storage may have a root. Then any path not below it is refused, and so is every link below it, even one that
 * another process puts there meanwhile. `remove` removes a link, but nothing behind it.
 *
 * A storage does not retry, lock, or know what the bytes mean.
 *
 * @typedef {object} Storage
 * @property {Capabilities} capabilities
 * @property {(path: string) => Promise<Uint8Array | null>} read
 *   The whole file, as long as it was when reading began. Links are followed, if there is no root.
 * @property {(path: string, start: number, end: number, options?: { into?: Uint8Array }) => Promise<Uint8Array | null>}
 *   readRange
 *   The bytes from `start` up to but not including `end`; fewer where the file ends before. `end` may be Infinity.
 *   Where they fit `into`, they may be put there, so that a long file is read into the same memory.
 * @property {(path: string, bytes: Uint8Array, options?: { durable?: boolean, within?: string }) => Promise<{ end: number, stat?: Stat }>} append
 *   Adds `bytes` at the end, all in one piece; makes the file and its parent folders where they are missing. The bytes
 *   are taken before the call returns, so appends land in call order and the caller may reuse its buffer.
 *   `end` is the size of the file right after. It is more than the old size plus `bytes.length` where others append,
 *   and may then lie inside what another process is still writing; `stat` is the file's stat then, where that was
 *   seen anyway. `within`:
 *   a folder on the way that is not made, nor any above it. A file that was removed, replaced or moved away, by itself
 * or with
 *   its folder, before all bytes were in it, is an error: an append resolves only if its bytes are found by the path.
 *   `durable` waits until the disk confirms all that is in the file, whoever wrote it, also where `bytes` is empty; it
 *   changes nothing where `capabilities.durable` is false.
 *   The error says in `written` how many bytes got in: 0, the append never happened; some or all, unknown to readers
 *   unless appended again. `durable: false` beside it: all got in, and the disk did not confirm. Never tried again by
 *   the storage. Links are refused.
 * @property {(path: string, bytes: Uint8Array, options?: { durable?: boolean, within?: string }) => Promise<void>}
 *   replace
 *   Puts `bytes` in the place of the file, whole or not at all, durable where the storage is, unless `durable` is
 * false; makes the
 *   file and its parent folders where they are missing; `within` as `append` has it. Replacing one path several times
 * takes effect in call order. `bytes` must
 *   not change until it resolves. On an error the old file is still there, except with `durable: false`: then the new
 *   one is, and the disk did not confirm. Links are refused.
 * @property {(path: string, pieces: Uint8Array[], options?: { durable?: boolean, within?: string }) => Promise<void>}
 *   [replacePieces]
 *   The same of pieces that lie one behind the other in the file, where the storage need not copy them to one.
 * @property {(from: string, to: string) => Promise<void>} move
 *   Gives a file, or a folder with all in it, another place, whole or not at all, durable where the storage is; makes
 *   the parent folders of `to` where they are missing. Nothing at `from` is an error, so that no move looks as if it
 *   had happened; so is anything at `to`, also an empty folder. What is under way at or below `from` is to be awaited
 *   before. On an error nothing was moved, except with `durable: false`: then it is at `to`, and the disk did not
 *   confirm. A file (not a folder) whose move was cut off may be at both places, as one file. Links and devices are
 * refused;
 *   those inside a folder move with it.
 * @property {(path: string, target: string) => Promise<boolean>} link
 *   Makes `path` a link to a folder, in one step, also in the place of another link; answers whether the system has
 * links.
 *   Anything else at `path` is `already_exists`. For people only: no verb of a storage with a root follows it.
 * @property {(path: string, options?: { files?: string[], as?: (stats: (Stat | null)[]) => number[] }) => Promise<Entry[] | null>} list
 *   The folder's entries, sorted by name (UTF-16 code units). A link to a folder is followed, if there is
 *   no root. With `files` each folder among the entries also has the stats of its files of these names, in their
 *   order; for all folders that costs little more than the system's calls. One that cannot be looked at fails it all.
 *   A storage may keep in place of the stats what `as` makes of them: thousands of stats would outlive a collection.
 * @property {(path: string) => Promise<void>} remove
 *   Removes a file, a link (not its target), or a folder with all in it. It is no error if nothing is there.
 * @property {(path: string) => Promise<Stat | null>} stat
 *   Links are not followed: they are `other`, if there is no root.
 * @property {() => Promise<void>} close
 *   Waits for what is under way and releases all files. Rejects where the system says only now that something
 *   appended earlier was not kept. May be called twice.
 *
 * @typedef {object} Capabilities
 * @property {"atomic" | "exclusive" | "none"} append
 *   `atomic`: several processes may append to one file; `exclusive`: only this storage may; `none`: there is no append.
 * @property {boolean} range `readRange` reads the range, not the whole file
 * @property {boolean} durable an append can wait for the disk
 * @property {boolean} watch changes by others can be watched
 *
 * @typedef {object} Stat
 * @property {Kind} kind
 * @property {number} size bytes; 0 unless `kind` is `file`
 * @property {number} mtimeMs time of the last change, milliseconds since 1970; whoever changes a file may set it
 * @property {number} ctimeMs
 *   Time of the last change of any kind: bytes, times, mode, a name; nobody can set it. Changes of files within some
 *   milliseconds may share one, in Deno those within a second; in memory no two changes do.
 * @property {{ number: number, madeMs: number }} [file]
 *   The file's identity, which tells it from another one that has come into its place: a number, which a later file may
 * get
 *   again, and when it was made; where the system does not know that, the time of the last change.
 *
 * @typedef {object} Entry
 * @property {string} name
 * @property {Kind} kind
 * @property {(Stat | null)[]} [files]
 *   Of a folder, where `list` was asked for them; absent where it may not be looked into. Null where nothing has the
 * name, or the folder vanished meanwhile. A
 *   link is of kind `other`.
 *
 * @typedef {"file" | "folder" | "other"} Kind
 */

/**
 * @typedef {"read" | "readRange" | "append" | "replace" | "move" | "link" | "list" | "remove" | "stat" | "close"} Verb
 */
/** @typedef {keyof typeof ERROR_REASONS} Code */

import { LeftoffError } from "../error.js";

const ERROR_REASONS = {
  permission_denied: "permission denied",
  disk_full: "the disk is full",
  read_only: "the filesystem is read-only",
  too_many_files: "too many files are open",
  not_a_file: "it is a folder, a link or a device, not a file",
  not_a_folder: "a file is where a folder should be",
  outside_store: "expected a path in the store, but found another one instead",
  invalid_range: "expected a range with 0 <= start <= end",
  invalid_path: "invalid path or name",
  not_found: "there is nothing to move",
  already_exists: "it already exists",
  other_filesystem: "the two places are on different filesystems",
  storage_closed: "the storage is closed",
  storage_failed: "the storage failed",
};

const METHOD_PHRASES = { append: "append to", readRange: "read" };

/**
 * @internal
 * Makes the error of one verb at one path, in one wording for every storage. An append's always says what it wrote.
 *
 * @param {Verb} verb
 * @param {string} path
 * @param {{ code: Code, to?: string, reason?: string, detail?: string, cause?: unknown, written?: number, durable?: boolean }} what
 *   `to`: the other path of a move; `reason`: instead of the code's own
 */
export function storageError(verb, path, { code, to, reason = ERROR_REASONS[code], detail, cause, written, durable }) {
  const phrase = verb in METHOD_PHRASES ? METHOD_PHRASES[/** @type {keyof typeof METHOD_PHRASES} */ (verb)] : verb;
  return new LeftoffError({
    code,
    message: `could not ${phrase} "${path}"${to === undefined ? "" : ` to "${to}"`}: ${reason}${detail ? ` (${detail})` : ""}`,
    cause,
    written: verb === "append" ? (written ?? 0) : undefined,
    durable,
  });
}

/**
 * @internal
 * Refuses an invalid range. A negative position would read from anywhere.
 *
 * @param {string} path
 * @param {number} start
 * @param {number} end
 */
export function checkRange(path, start, end) {
  const whole = Number.isSafeInteger(start) && (end === Infinity || Number.isSafeInteger(end));
  if (whole && 0 <= start && start <= end) return;
  throw storageError("readRange", path, { code: "invalid_range", detail: `found ${start} to ${end}` });
}

/**
 * Makes of the stats that a list came with, from elsewhere, what its caller keeps of them.
 * @param {Entry[] | null} entries @param {(stats: (Stat | null)[]) => number[]} [as] as `list` has it
 */
export function convertStats(entries, as) {
  for (const entry of entries ?? []) if (as && entry.files) entry.files = /** @type {any} */ (as(entry.files));
  return entries;
}

/**
 * @internal
 * Refuses names that are not plain. A path could lead anywhere.
 *
 * @param {string} path
 * @param {string[]} names of files in the folders there
 */
export function checkNames(path, names) {
  const odd = names.find((name) => /^\.{0,2}$|[\\/\0]/.test(name));
  if (odd === undefined) return;
  throw storageError("list", path, {
    code: "invalid_path",
    reason: `expected the name of a file, but found "${odd}" instead`,
  });
}
