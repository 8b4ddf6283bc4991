// @ts-check
/** What the system says, as what a storage says. */

import { LeftoffError } from "../error.js";
import { failed } from "./contract.js";
import { codeOf } from "./folders.js";
import { Outside } from "./root.js";

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

/**
 * @param {Verb} verb
 * @param {string} path
 * @param {unknown} cause
 * @param {{ hasRoot: boolean, written?: number, durable?: boolean }} extra
 */
export function translated(verb, path, cause, { hasRoot, ...extra }) {
  if (cause instanceof LeftoffError) return cause;
  const code = codeOf(cause);
  if (cause instanceof Outside) return failed(verb, path, { code: "outside_store", reason: cause.message, cause, ...extra });
  if (hasRoot && code === "ELOOP") {
    return failed(verb, path, { code: "outside_store", reason: "expected a file of the store, but found a link instead", cause, ...extra });
  }
  return failed(verb, path, { code: CODES[code] ?? "storage_failed", detail: code || String(cause), cause, ...extra });
}
