// @ts-check
/** What help says of the settings. */

/** A description of each setting. @type {[key: string, what: string][]} */
export const SETTING_DESCRIPTIONS = [
  ["autoPersist.enabled", "save sessions while they run"],
  ["autoPersist.saveAfterAssistantMessage", "save after each answer"],
  ["autoPersist.saveAfterToolExecution", "save after each tool call"],
  ["autoPersist.debounceMs", "wait this many milliseconds before saving again"],
  ["autoPersist.updateMetadataIntervalMs", "write a running session's metadata at this interval"],
  ["autoPersist.maxSessionsPerProject", "archive a project's oldest sessions beyond this number"],
  ["autoPersist.autoArchiveAfterDays", "archive sessions inactive for this many days"],
  ["idleMinutes", "pause a session after this many minutes without a message"],
  ["outputs.memoryBytes", "keep tool outputs up to this size in memory"],
  ["recall", "whether agents get quotes from earlier sessions"],
  ["record", "store new sessions; false stores nothing"],
  ["redact", "secrets in output: off, report or replace"],
  ["agent", "the agent that resume starts"],
  ["ask.engine", "the engine that ask uses"],
  ["ask.prompt", "the file with ask's instructions"],
];
