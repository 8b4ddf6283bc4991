// @ts-check
/** Options that nobody knows are refused by name: one that is mistyped would be as if it was not given. */

import { LeftoffError } from "../error.js";

/** What each call takes; a question mark behind those that are true or false. */
const OPTIONS = {
  openStore: "project home workspace storage countTokens? idleMs redact",
  create: "type title name placement model agent", continue: "model", fork: "at", delete: "purge?", move: "to name day title", doctor: "id fix? secrets?",
  list: "all? type status archived agent folder since until sort limit verify?",
  import: "from only onProgress", record: "agent path only commandOf", setting: "project?",
  tidy: "enabled? saveAfterAssistantMessage? saveAfterToolExecution? debounceMs updateMetadataIntervalMs maxSessionsPerProject autoArchiveAfterDays",
  append: "durability format revives? operation expected", brief: "maxTokens encoding", stop: "summary",
  compact: "apply? undo? keep window model reserve system tools encoding assumes? format count summarize strategies",
  messages: "newestFirst? leaf allBranches?", follow: "signal", export: "allBranches?", flush: "learns?",
  countTokens: "encoding model limit", NodeStorage: "root", MemoryStorage: "now",
};

/** @typedef {keyof typeof OPTIONS} Call */

/** Of each call the names of its options, and which are flags. @type {Map<Call, { names: string[], flags: string[] }>} */
export const CALLS = new Map(Object.entries(OPTIONS).map(([call, options]) => [/** @type {Call} */ (call), { names: options.replaceAll("?", "").split(" "), flags: options.match(/\w+(?=\?)/g) ?? [] }]));

/** The options of a call, where it knows all of them, and a flag is one. @template {object} T @param {Call} call @param {T} options @returns {T} */
export function knownOptions(call, options) {
  const { names, flags } = /** @type {{ names: string[], flags: string[] }} */ (CALLS.get(call));
  const found = typeof options !== "object" || options === null ? String(options) : Object.keys(options).find((name) => !names.includes(name));
  if (found !== undefined) throw refused(names.join(", ").replace(/, (?=\w+$)/, " or "), found);
  for (const name of flags) {
    const value = /** @type {Record<string, unknown>} */ (options)[name];
    if (value !== undefined && typeof value !== "boolean") throw refused(`true or false for "${name}"`, value);
  }
  const { signal } = /** @type {{ signal?: any }} */ (options);
  if (signal !== undefined && typeof signal?.addEventListener !== "function") throw refused('an AbortSignal for "signal"', signal);
  return options;
}

/** @param {string} expected @param {unknown} found */
function refused(expected, found) {
  return new LeftoffError({ code: "invalid_request", message: `expected ${expected}, but found ${JSON.stringify(found) ?? typeof found} instead` });
}
