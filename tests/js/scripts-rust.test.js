// @ts-check
// The scripts of tests/conformance/scripts in Rust: the same answers, and the same bytes on the disk, as JavaScript's were recorded.
import { tryAll } from "../conformance/scripting/door.mjs";
import { inRust } from "../conformance/scripting/rust.mjs";

/** What the Rust host has not yet, and which scripts want it. The list only gets shorter. @type {Record<string, string>} */
const MISSING = {
  "append of a whole answer": "answer-ai-sdk answer-cut-short answer-openai-responses answer-several-choices answer-tool-use append-answers",
  commit: "git-busy git-commit git-hook-refuses git-none gone-session",
  goesOn: "goes-on goes-on-imported",
  writeForAgent: "hand-over hand-over-copilot hand-over-elsewhere hand-over-empty hand-over-goes-on hand-over-resumed hand-over-shortened",
  import: "export-imported import-aider import-aider-runs import-claude-code import-claude-commands import-claude-records import-claude-sidechain import-cline import-cline-sdk import-codex-foreign import-codex-real import-codex-simple import-continue import-copilot import-copilot-real import-damaged import-deep import-folder import-formats import-gemini-jsonl import-gemini-resumed import-gemini-tools import-grows import-nanocoder import-of-project import-opencode-files import-other-agents import-pi import-pi-drift import-progress import-qwen import-qwen-folder import-refused import-rewritten import-said-wrongly import-twice-from-copies",
  importAll: "import-all import-all-homes import-all-nothing",
  readTranscript: "transcript transcript-codex transcript-copilot transcript-gemini transcript-of-bytes transcript-pi transcript-refused transcript-turns",
  record: "record record-command record-grows record-refused",
  "rules for secrets": "redact-replace redact-report redact-tools settings doctor-secrets",
  trashed: "delete-refused others-delete trash-order trash-restore",
  follow: "follow-another-store follow-appended follow-large follow-refused follow-revised",
  "a storage of the caller's own": "memory-full memory-full-midway memory-rename-fails memory-store storage-codes storage-of-node storage-refused memory-clock",
  redacted: "redact-refused",
  folders: "store-folders",
  restore: "trash-place-taken trash-restore-refused trash-restore-workspace open-ambiguous",
  "a store that was closed": "closed-store damage-log-a-folder",
  "a store that does not count": "line-too-long uncounted",
  "problems of settings": "settings-kept settings-strictest",
  "resume with maxBytes": "resume-max-bytes",
};

/** What a script asks that Rust's types cannot say. @type {Record<string, string>} */
const UNSAYABLE = {
  "a message that is a number": "asked-oddly",
  "a number that is none": "compact-refused context-counter state-and-brief",
  "another word than its two": "append-refused",
  "a text that is none": "counting-refused",
  "a title that is no text": "rename-and-archive",
  "strategies that are no list": "context-refused",
  "a summary that is no text": "summary-refused",
  "an option that nobody knows": "options-unknown",
  "half of a character": "unicode-halves",
};

tryAll("Rust", inRust(), [MISSING, UNSAYABLE]);
