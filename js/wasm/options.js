// @ts-check
/**
 * Refuses unknown options by name, by one table of what each call takes: a mistyped one would be as if it was not
 * given.
 */

import { LeftoffError } from "../error.js";

/**
 * The marks after options that the core does not look at: the type, and its name in an error.
 * @type {Record<string, [type: string, said: string]>}
 */
const VALUE_KINDS = {
  "?": ["boolean", "true or false"],
  "~": ["string", "a text"],
  "#": ["number", "a number"],
  "!": ["function", "a function"],
  "/": ["string", "a path"],
  "{": ["object", "an object"],
};

/** The options of each call. */
const CALL_OPTIONS = {
  openStore: "project~ home~ workspace~ storage countTokens? idleMs# redact readOnly?",
  create: "type title name placement model agent",
  createFromSource: "source title model",
  continue: "model~",
  fork: "at",
  delete: "purge?",
  move: "to name day title~",
  doctor: "id fix? secrets? onProgress!",
  list: "all? type status archived agent folder since until sort limit verify?",
  search:
    "all? type status archived agent folder since until limit verify? role regex? numbers? file command error embed!",
  searchIn: "role since until limit regex? numbers? embed!",
  usage: "by all? folder session agent since until",
  recall: "maxTokens# maxBytes# project~ all? exclude encoding~ model~ embed!",
  import: "from only onProgress!",
  listImportable: "from limit# onProgress!",
  record: "agent path~ only commandOf!",
  setting: "project?",
  session: "source",
  source: "agent id",
  recordMessage: "from~",
  turn: "prompt~ session~ hasForgotten?",
  tidy: "enabled? saveAfterAssistantMessage? saveAfterToolExecution? debounceMs# updateMetadataIntervalMs# maxSessionsPerProject autoArchiveAfterDays",
  append: "durability format~ revives? operation expected",
  lastContext: "full?",
  brief: "maxTokens encoding",
  stop: "summary",
  compact:
    "apply? undo? keep window model reserve system tools encoding assumes? format count embed summarize strategies",
  messages: "newestFirst? leaf allBranches?",
  follow: "signal",
  outputs: "sessionId~",
  export: "allBranches?",
  flush: "learns?",
  countTokens: "encoding~ model~ limit#",
  loadWasm: "leftoff agents context reader o200k_base cl100k_base",
  NodeStorage: "root~",
  MemoryStorage: "now!",
};

/** @typedef {keyof typeof CALL_OPTIONS} Call */

/**
 * For each call its options' names, their list in an error, and their kinds.
 * @type {Map<Call, { names: string[], known: string, kinds: [name: string, kind: string][] }>}
 */
export const CALLS = new Map(
  Object.entries(CALL_OPTIONS).map(([call, options]) => [
    /** @type {Call} */ (call),
    {
      names: options.replaceAll(/[^\w ]/g, "").split(" "),
      known: options
        .replaceAll(/[^\w ]/g, "")
        .replaceAll(" ", ", ")
        .replace(/, (?=\w+$)/, " or "),
      kinds: Array.from(options.matchAll(/(\w+)([^\w ])/g), ([, name = "", kind = ""]) => [name, kind]),
    },
  ]),
);

/**
 * Returns the options if the call knows all of them and each is of its kind; else throws.
 * @template {object} T
 * @param {Call} call
 * @param {T} options
 * @returns {T}
 */
export function checkOptions(call, options) {
  const { names, known, kinds } = /** @type {{ names: string[], known: string, kinds: [string, string][] }} */ (
    CALLS.get(call)
  );
  if (typeof options !== "object" || options === null || Array.isArray(options))
    throw optionError(`an object with ${known}`, options);
  for (const name of Object.keys(options))
    if (!names.includes(name))
      throw new LeftoffError({
        code: "invalid_request",
        message: `unknown option ${JSON.stringify(name)}: expected ${known}`,
      });
  for (const [name, kind] of kinds) {
    const value = /** @type {Record<string, unknown>} */ (options)[name];
    if (value !== undefined) checkKind(name, value, kind);
  }
  const { signal } = /** @type {{ signal?: any }} */ (options);
  if (signal !== undefined && typeof signal?.addEventListener !== "function")
    throw optionError('an AbortSignal for "signal"', signal);
  return options;
}

/**
 * Returns a value of the kind, a text by default; or throws.
 * @template T
 * @param {string} name
 * @param {T} value
 * @param {string} [kind]
 */
export function checkKind(name, value, kind = "~") {
  const [type, said] = /** @type {[string, string]} */ (VALUE_KINDS[kind]);
  if (typeof value !== type || value === null || Number.isNaN(value) || (kind === "/" && value === ""))
    throw optionError(`${said} for "${name}"`, value);
  return value;
}

/** Returns a value that is a session; else throws. @param {import("../session/session.js").Session} session */
export function checkSession(session) {
  if (typeof session?.append !== "function") throw optionError("a session", session);
  return session;
}

/** @param {string} expected @param {unknown} found */
function optionError(expected, found) {
  return new LeftoffError({
    code: "invalid_request",
    message: `expected ${expected}, but found ${describeValue(found)} instead`,
  });
}

/**
 * A value as an error shows it: as JSON, or its type where JSON cannot hold it, as a bigint or a circle.
 * @param {unknown} found
 */
function describeValue(found) {
  try {
    return typeof found === "number" ? String(found) : (JSON.stringify(found) ?? typeof found);
  } catch {
    return typeof found;
  }
}
