/** The error codes. */

import type { CoreCode } from "../records.js";

/**
 * The code of an error, a stable word. Those of the core come first; most others are of files and of git. A storage of
 * your own, a strategy or a counter may throw a `LeftoffError` with one of them.
 */
export type ErrorCode =
  | CoreCode
  /** Several sessions are meant. */
  | "ambiguous"
  /** Something stands where a file or a session is to go. */
  | "already_exists"
  /** A file of leftoff's own package is missing. */
  | "asset_missing"
  /** A question was answered with no. */
  | "cancelled"
  /** The session was marked complete. */
  | "completed"
  | "disk_full"
  /** Git is at work in the repository, and its lock is held. */
  | "git_busy"
  /** Git refused; its own words are in the message. */
  | "git_failed"
  | "git_missing"
  /** A fault of leftoff's own. What was acknowledged is kept; open the session again. */
  | "internal"
  /** Something is to be moved into itself, or a name is no plain name. */
  | "invalid_path"
  | "invalid_range"
  /** A settings file, or a value of it, that cannot be used. */
  | "invalid_setting"
  /** A model's summary that is empty, or no smaller than what it stands for. */
  | "invalid_summary"
  /** The log was replaced by another one meanwhile. */
  | "log_replaced"
  /** The log has fewer bytes than were seen in it. */
  | "log_shrunk"
  /** An optional package, or an agent's client, is not installed. */
  | "missing_dependency"
  /** No counter for this encoding or model. */
  | "no_counter"
  /** The project can have no current session. */
  | "no_pointer"
  | "not_a_file"
  | "not_a_folder"
  | "not_a_repository"
  | "not_found"
  /** Only a session of a workspace can be committed. */
  | "not_in_workspace"
  /** Another process has the session open. */
  | "open_elsewhere"
  | "other_filesystem"
  /** A path, or a link on its way, leads out of the store. */
  | "outside_store"
  | "permission_denied"
  | "read_only"
  /** Git ignores the session's folder. */
  | "session_ignored"
  | "storage_closed"
  | "storage_failed"
  /** Nested deeper than is read. */
  | "too_deep"
  | "too_large"
  | "too_many_files"
  /** An invalid command line. */
  | "usage";
