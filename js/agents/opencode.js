// @ts-check
/**
 * Reads OpenCode's database, each session as the document that `opencode export` gives:
 * `{info, messages: [{info, parts}]}`. A row's JSON is passed on as it stands, not written anew; a row that is no JSON
 * is passed on as a string, which the reader lists.
 */

import { LeftoffError } from "../error.js";

/**
 * @typedef {{ id: string, bytes: Uint8Array, error?: LeftoffError }} ExportedSession `error`: why it cannot be read;
 *   the
 *   others can
 *
 * Limits a database to one session: the last active one of a folder.
 * @typedef {{ folder: string }} FolderFilter
 */

/** How many characters a session may have, in addition to `CHARS_PER_BYTE` its database's bytes. */
const BASE_SESSION_CHARS = 2 ** 20;
const CHARS_PER_BYTE = 2;

/** SQLite's code for a value that is longer than it may be. */
const TOO_BIG = 18;
/** SQLite's code for a file that is no database. */
const NO_DATABASE = 26;

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/**
 * Reads the sessions of `opencode.db`, oldest first, one at a time. The files are never written: SQLite works on
 * copies.
 *
 * `wal` is the content of `opencode.db-wal`, without which the newest turns are missing. To read both while the client
 * writes, read the database first, and again if the first 32 bytes of the log changed meanwhile; if they did not,
 * all that went into the database meanwhile is in the log, too.
 * @param {{ database: Uint8Array, wal?: Uint8Array, only?: FolderFilter }} files
 * @returns {AsyncGenerator<ExportedSession, void, void>}
 */
export async function* sessionsOfDatabase({ database, wal, only }) {
  const db = await openDatabase(database, wal);
  // Computed columns may be larger than the file.
  const most = BASE_SESSION_CHARS + CHARS_PER_BYTE * (database.length + (wal?.length ?? 0));
  try {
    const has = (/** @type {string} */ table) =>
      queryRows(db, "select 1 from sqlite_master where type = 'table' and name = ?", table).length > 0;
    if (!["session", "message", "part"].every(has))
      throw unknownFormatError("expected a database of opencode, but found one with other tables");
    const isSecond = has("session_message");
    for (const { id } of selectSessions(db, only)) yield sessionOf(db, { id, isSecond, most });
  } finally {
    db.close();
  }
}

/** @param {Database} db @param {{ id: unknown, isSecond: boolean, most: number }} of @returns {ExportedSession} */
function sessionOf(db, { id, isSecond, most }) {
  try {
    const text = renderSession(db, id, isSecond, most);
    return { id: String(id), bytes: encoder.encode(text) };
  } catch (error) {
    // Endless nesting exceeds the stack.
    const found =
      error instanceof RangeError
        ? new LeftoffError({
            code: "too_deep",
            message: `expected a session of opencode, but found "${id}" nested too deep`,
            cause: error,
          })
        : error;
    if (!(found instanceof LeftoffError) || found.code === "internal") throw found;
    return { id: String(id), bytes: new Uint8Array(), error: found };
  }
}

/** @typedef {Record<string, any>} Row */
/** @typedef {import("@sqlite.org/sqlite-wasm").Database} Database */

/** The module's name, kept out of the import expression: no bundler must fail without it. */
const SQLITE_PACKAGE = "@sqlite.org/sqlite-wasm";

/**
 * Opens a database. SQLite is loaded when first needed, and made anew for each database, so that its memory is freed
 * with it.
 * @param {Uint8Array} database @param {Uint8Array} [wal] @returns {Promise<Database>}
 */
async function openDatabase(database, wal) {
  const { default: init } = await /** @type {Promise<typeof import("@sqlite.org/sqlite-wasm")>} */ (
    import(/* webpackIgnore: true */ /* @vite-ignore */ SQLITE_PACKAGE)
  ).catch((cause) => {
    throw new LeftoffError({
      code: "missing_dependency",
      message:
        "the package @sqlite.org/sqlite-wasm, which reads databases, could not be loaded: run 'npm install @sqlite.org/sqlite-wasm'",
      cause,
    });
  });
  try {
    const { capi, oo1 } = await init();
    const plain = (/** @type {Uint8Array} */ bytes) => new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    capi.sqlite3_js_posix_create_file("/opencode.db", plain(database));
    if (wal !== undefined && wal.length > 0) capi.sqlite3_js_posix_create_file("/opencode.db-wal", plain(wal));
    const db = new oo1.DB("/opencode.db", "w");
    // No value is longer than the whole database; and a log's page numbers must not make a file of that size.
    capi.sqlite3_limit(
      db,
      capi.SQLITE_LIMIT_LENGTH,
      Math.min(2 ** 30, BASE_SESSION_CHARS + database.length + (wal?.length ?? 0)),
    );
    capi.sqlite3_db_config(db, capi.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, 0);
    // A log needs shared memory, unless the database is locked exclusively.
    db.exec("pragma locking_mode = exclusive");
    return db;
  } catch (cause) {
    throw unknownFormatError("expected a database of SQLite, but it could not be opened", cause);
  }
}

/** @param {Database} db @param {FolderFilter | { session: string }} [only] `session`: the one of this id */
function selectSessions(db, only) {
  if (only && "session" in only) return queryRows(db, "select id from session where id = ?", only.session);
  if (only)
    return queryRows(
      db,
      "select id from session where directory = ? and parent_id is null order by time_updated desc, id desc limit 1",
      only.folder,
    );
  return queryRows(db, "select id from session order by time_created, id");
}

/** @param {Database} db @param {string} sql @param {any[]} values @returns {Row[]} */
function queryRows(db, sql, ...values) {
  return queryRowsAtMost(db, Infinity, sql, ...values);
}

/**
 * @param {Database} db
 * @param {number} most how many characters
 * @param {string} sql
 * @param {any[]} values
 * @returns {Row[]}
 */
function queryRowsAtMost(db, most, sql, ...values) {
  /** @type {Row[]} */
  const rows = [];
  let size = 0;
  /** @param {any} row */
  const callback = (row) => {
    for (const value of Object.values(row)) size += value?.length ?? 0;
    if (size > most) throw tooLargeError(`more than ${most} characters`);
    rows.push(row);
  };
  try {
    db.exec({ sql, bind: values.length > 0 ? values : undefined, rowMode: "object", callback });
    return rows;
  } catch (cause) {
    if (cause instanceof LeftoffError) throw cause;
    if (/** @type {any} */ (cause).resultCode === TOO_BIG) throw tooLargeError("a value that is longer", cause);
    if (/** @type {any} */ (cause).resultCode === NO_DATABASE)
      throw unknownFormatError("expected a database of SQLite, but found something else", cause);
    throw new LeftoffError({
      code: "damaged",
      message: "expected a sound database of opencode, but SQLite refused to read it",
      cause,
    });
  }
}

/** @param {string} found @param {unknown} [cause] */
function tooLargeError(found, cause) {
  return new LeftoffError({
    code: "too_large",
    message: `expected a session of opencode that is no larger than its database, but found ${found}`,
    cause,
  });
}

/** @param {string} message @param {unknown} [cause] */
function unknownFormatError(message, cause) {
  return new LeftoffError({ code: "unknown_format", message, cause });
}

/**
 * Renders one session as it is exported.
 * @param {Database} db
 * @param {unknown} id
 * @param {boolean} isSecond the second version's table is there
 * @param {number} most
 */
function renderSession(db, id, isSecond, most) {
  const query = (/** @type {string} */ sql, /** @type {any[]} */ ...values) =>
    queryRowsAtMost(db, most, sql, ...values);
  const [row] = query("select * from session where id = ?", id);
  const parts = new Map();
  for (const part of query("select id, message_id, data from part where session_id = ? order by message_id, id", id)) {
    add(parts, part.message_id, mergeColumns(part.data, { id: part.id, sessionID: id, messageID: part.message_id }));
  }
  const said = query("select id, data from message where session_id = ? order by time_created, id", id).map(
    (message) => {
      const own = parts.get(message.id) ?? [];
      return `{"info":${mergeColumns(message.data, { id: message.id, sessionID: id })},"parts":[${own.join()}]}`;
    },
  );
  const second = isSecond
    ? query("select id, type, data from session_message where session_id = ? order by seq", id)
    : [];
  const more = second.map(({ data, ...own }) => mergeColumns(data, own));
  const behind = more.length > 0 ? `,"sessionMessages":[${more.join()}]` : "";
  return `{"info":${JSON.stringify(infoOf(row), plainNumber)},"messages":[${said.join()}]${behind}}`;
}

const INFO_COLUMNS = {
  project_id: "projectID",
  workspace_id: "workspaceID",
  parent_id: "parentID",
  slug: "slug",
  directory: "directory",
  path: "path",
  title: "title",
  version: "version",
  cost: "cost",
  agent: "agent",
  id: "id",
  metadata: "metadata",
  revert: "revert",
  permission: "permission",
  model: "model",
};
const COLUMN_GROUPS = {
  time: { created: "time_created", updated: "time_updated", compacting: "time_compacting", archived: "time_archived" },
  summary: {
    additions: "summary_additions",
    deletions: "summary_deletions",
    files: "summary_files",
    diffs: "summary_diffs",
  },
  share: { url: "share_url" },
};
const JSON_COLUMNS = new Set(["metadata", "revert", "permission", "model", "summary_diffs"]);

/** A session's fields; an unknown column keeps its name. @param {Row} row */
function infoOf(row) {
  const left = new Map(Object.entries(row).filter(([, value]) => value !== null));
  const take = (/** @type {string} */ column) => {
    const value = left.get(column);
    left.delete(column);
    return JSON_COLUMNS.has(column) && typeof value === "string" ? parseJsonOrText(value) : value;
  };
  const info = Object.fromEntries(Object.entries(INFO_COLUMNS).map(([column, name]) => [name, take(column)]));
  for (const [name, columns] of Object.entries(COLUMN_GROUPS)) {
    const group = Object.fromEntries(Object.entries(columns).map(([key, column]) => [key, take(column)]));
    if (Object.values(group).some((value) => value !== undefined)) info[name] = group;
  }
  if (left.has("tokens_input")) {
    const [input, output, reasoning, read, write] = ["input", "output", "reasoning", "cache_read", "cache_write"].map(
      (name) => take(`tokens_${name}`),
    );
    info.tokens = { input, output, reasoning, cache: { read, write } };
  }
  return { ...info, ...Object.fromEntries(left) };
}

/** @param {unknown} data a column @param {Row} own the other columns, which take precedence */
function mergeColumns(data, own) {
  const text = data instanceof Uint8Array ? decoder.decode(data) : String(data);
  return parseObject(text) ? appendFields(text, own) : JSON.stringify(text);
}

/** Appends fields to an object's text, whose rest stays as it stands. @param {string} text @param {Row} more */
function appendFields(text, more) {
  const fields = JSON.stringify(more, plainNumber).slice(1, -1);
  const head = text.trimEnd().slice(0, -1).trimEnd();
  return `${head}${fields === "" || head.endsWith("{") ? "" : ","}${fields}}`;
}

/** @param {string} text @returns {any} */
function parseJsonOrText(text) {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Parses a text as an object; `undefined` where it is none. @param {string} text @returns {Row | undefined} */
function parseObject(text) {
  const value = parseJsonOrText(text);
  return value !== null && typeof value === "object" && !Array.isArray(value) ? value : undefined;
}

/** @param {string} _key @param {unknown} value */
function plainNumber(_key, value) {
  return typeof value === "bigint" ? Number(value) : value;
}

/** @template T @param {Map<string, T[]>} into @param {string} key @param {T} value */
function add(into, key, value) {
  const held = into.get(key);
  if (held) held.push(value);
  else into.set(key, [value]);
}
