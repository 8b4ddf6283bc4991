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

/** The calls that take options. */
export const CALLS = /** @type {Call[]} */ (Object.keys(OPTIONS));

/** The names of a call's options. @param {Call} call */
export const optionsOf = (call) => OPTIONS[call].replaceAll("?", "").split(" ");

/** The options of a call, where it knows all of them, and a flag is one. @template {object} T @param {Call} call @param {T} options @returns {T} */
export function knownOptions(call, options) {
  const names = optionsOf(call);
  const found = typeof options !== "object" || options === null ? String(options) : Object.keys(options).find((name) => !names.includes(name));
  if (found !== undefined) throw refused(names.join(", ").replace(/, (?=\w+$)/, " or "), found);
  for (const name of OPTIONS[call].match(/\w+(?=\?)/g) ?? []) {
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
