// @ts-check
// The scripts of tests/conformance/scripts in Rust: the same answers, and the same bytes on the disk, as JavaScript's were recorded.
import { tryAll } from "../conformance/scripting/door.mjs";
import { inRust } from "../conformance/scripting/rust.mjs";

/** What the Rust host has not yet, and which scripts want it. The list only gets shorter. @type {Record<string, string>} */
const MISSING = {
  "append of a whole answer": "append-answers",
  commit: "git-commit git-none",
  doctor: "blobs-gone checkpoint-damaged continue-points copied-session delete-leaves-nothing document-by-hand document-gone document-newer left-open left-overs links-refused list-index-damaged list-index-stale others-cut others-damage others-newer others-tear pointer-dangling summary-damaged workspace-document-by-hand",
  goesOn: "goes-on",
  writeForAgent: "hand-over",
  import: "export-imported import-claude-code import-damaged import-folder import-formats import-grows",
  importAll: "import-all",
  lastContext: "context-budgets context-compared gone-session messages-empty",
  mend: "mend-one",
  readTranscript: "transcript",
  record: "record",
  relocate: "relocate-project",
  "rules for secrets": "redact-replace redact-report settings",
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
};

tryAll("Rust", inRust(), [MISSING, UNSAYABLE]);
