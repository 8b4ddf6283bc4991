// @ts-check
/** Turns the system's errors into a storage's. */

import { LeftoffError } from "../error.js";
import { isRefused } from "../host/permissions.js";
import { storageError } from "./contract.js";
import { codeOf } from "./folders.js";
import { OutsideRootError } from "./root.js";

/** @import { Code, Verb } from "./contract.js" */

/** @type {Record<string, Code>} */
const CODES = {
  EACCES: "permission_denied",
  EPERM: "permission_denied",
  ENOSPC: "disk_full",
  EDQUOT: "disk_full",
  EFBIG: "disk_full",
  EROFS: "read_only",
  EMFILE: "too_many_files",
  ENFILE: "too_many_files",
  EISDIR: "not_a_file",
  ELOOP: "not_a_file",
  ENXIO: "not_a_file",
  ENOTDIR: "not_a_folder",
};

/** The errors of a move's or link's target that is taken, or out of reach. @type {Record<string, Code>} */
const MOVE_CODES = {
  EEXIST: "already_exists",
  ENOTEMPTY: "already_exists",
  EXDEV: "other_filesystem",
  EINVAL: "invalid_path",
};

/**
 * @param {Verb} verb
 * @param {string} path
 * @param {unknown} cause
 * @param {{ hasRoot: boolean, to?: string, written?: number, durable?: boolean }} extra
 */
export function toStorageError(verb, path, cause, { hasRoot, ...extra }) {
  if (cause instanceof LeftoffError) return cause;
  const code = codeOf(cause);
  if (cause instanceof OutsideRootError)
    return storageError(verb, path, { code: "outside_store", reason: cause.message, cause, ...extra });
  if (hasRoot && code === "ELOOP") {
    return storageError(verb, path, {
      code: "outside_store",
      reason: "expected a file of the store, but found a link instead",
      cause,
      ...extra,
    });
  }
  const known = ((verb === "move" || verb === "link") && MOVE_CODES[code]) || CODES[code];
  return storageError(verb, path, { code: known ?? "storage_failed", detail: detailOf(cause), cause, ...extra });
}

// The detail: a runtime's message says which permission is missing.
/** @param {unknown} cause */
const detailOf = (cause) => (isRefused(cause) ? /** @type {Error} */ (cause).message : codeOf(cause) || String(cause));

/** Turns an unexpected system error into a `LeftoffError`; leaves anything else as it is. @param {unknown} error */
export function fromSystemError(error) {
  if (!(error instanceof Error) || !("syscall" in error) || error instanceof LeftoffError) return error;
  const { syscall, path = "" } = /** @type {NodeJS.ErrnoException} */ (error);
  const code = codeOf(error);
  const isGone = code === "ENOENT";
  const reason = isGone ? "no such file or folder" : undefined;
  return storageError(/** @type {Verb} */ (syscall), String(path), {
    code: isGone ? "not_found" : (CODES[code] ?? "storage_failed"),
    reason,
    detail: detailOf(error),
    cause: error,
  });
}
