// @ts-check
/** Options that nobody knows are refused by name: one that is mistyped would be as if it was not given. */

import { LeftoffError } from "../error.js";

/** What each call takes. */
export const OPTIONS = {
  openStore: "project home workspace storage countTokens idleMs redact",
  create: "type title name placement model agent", continue: "model", fork: "at", delete: "purge", move: "to name day title", doctor: "id fix secrets",
  list: "all type status archived agent folder since until sort limit verify",
  import: "from only onProgress", record: "agent path only commandOf", setting: "project",
  tidy: "enabled saveAfterAssistantMessage saveAfterToolExecution debounceMs updateMetadataIntervalMs maxSessionsPerProject autoArchiveAfterDays",
  append: "durability format revives operation expected", brief: "maxTokens encoding", stop: "summary",
  compact: "apply undo keep window model reserve system tools encoding assumes format count summarize strategies",
  messages: "newestFirst leaf allBranches", follow: "signal", export: "allBranches", flush: "learns",
  countTokens: "encoding model limit", NodeStorage: "root", MemoryStorage: "now",
};

/** The options of a call, where it knows all of them. @template {object} T @param {keyof typeof OPTIONS} call @param {T} options @returns {T} */
export function knownOptions(call, options) {
  const names = OPTIONS[call].split(" ");
  const found = typeof options !== "object" || options === null ? String(options) : Object.keys(options).find((name) => !names.includes(name));
  if (found === undefined) return options;
  const expected = names.join(", ").replace(/, (?=\w+$)/, " or ");
  throw new LeftoffError({ code: "invalid_request", message: `expected ${expected}, but found ${JSON.stringify(found)} instead` });
}
