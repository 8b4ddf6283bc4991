// @ts-check
// The scripts of tests/conformance/scripts in Rust: the same answers, and the same bytes on the disk, as JavaScript's were recorded.
import { tryAll } from "../conformance/scripting/door.mjs";
import { inRust } from "../conformance/scripting/rust.mjs";

/** What the Rust host has not yet, and which scripts want it. The list only gets shorter. @type {Record<string, string>} */
const MISSING = {
  "append of a whole answer": "append-answers",
  commit: "git-commit git-none",
  compareContexts: "context-compared",
  continue: "continue-goes-on continue-points continue-together wide-batch",
  countTokens: "counting",
  current: "pointer-dangling",
  delete: "delete-in-workspace delete-leaves-nothing delete-to-trash",
  doctor: "blobs-gone checkpoint-damaged left-open left-overs others-cut others-damage others-tear summary-damaged workspace-document-by-hand",
  find: "asked-oddly find-and-search",
  findStopPhrase: "stop-phrases",
  fork: "append-branches append-once-by-others fork-empty fork-whole",
  handOver: "hand-over",
  import: "export-imported import-claude-code import-damaged import-folder import-formats import-grows",
  importAll: "import-all",
  lastContext: "context-budgets gone-session messages-empty",
  list: "append-after-completed append-durable copied-session create-kinds create-refused document-by-hand document-edit-taken-back document-gone document-newer git-remote idle-is-paused idle-while-open links-refused list-filters list-index list-index-damaged list-index-stale list-projects others-newer relocate-project timestamps unicode-titles workspace-given workspace-local-day workspace-markdown workspace-names",
  mend: "mend-one",
  move: "move-both-ways move-onto-another moved-by-another",
  "open by a beginning": "open-by-prefix",
  others: "delete-open-elsewhere",
  "pin of what is not there": "pin-and-unpin",
  readTranscript: "transcript",
  record: "record",
  resume: "compact-by-model goes-on resume-block resume-forged resume-rested statuses",
  "rules for secrets": "redact-replace redact-report",
  settings: "settings",
  tidy: "tidy-archives",
  writeSetting: "settings-in-force",
};

/** What a script asks that Rust's types cannot say. @type {Record<string, string>} */
const UNSAYABLE = {
  "a number that is none": "compact-refused context-counter state-and-brief",
  "another word than its two": "append-refused",
  "a title that is no text": "rename-and-archive",
  "strategies that are no list": "context-refused",
  "a summary that is no text": "summary-refused",
};

tryAll("Rust", inRust(), [MISSING, UNSAYABLE]);
