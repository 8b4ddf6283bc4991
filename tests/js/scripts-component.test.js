// @ts-check
// The scripts of tests/conformance/scripts by the component: the same answers, and the same bytes on the disk, as JavaScript's were
// recorded.
import { Component } from "../conformance/scripting/component.mjs";
import { tryAll } from "../conformance/scripting/door.mjs";

/** What the component has not yet, or the host that tries it, and which scripts want it. The list only gets shorter. @type {Record<string, string>} */
const MISSING = {
  "append of a whole answer": "append-answers",
  commit: "git-commit git-none",
  continue: "continue-goes-on continue-points continue-together wide-batch",
  countTokens: "counting",
  current: "pointer-dangling",
  delete: "delete-in-workspace delete-leaves-nothing delete-open-elsewhere delete-to-trash",
  doctor: "blobs-gone checkpoint-damaged left-open left-overs others-cut others-damage others-tear summary-damaged workspace-document-by-hand",
  find: "asked-oddly find-and-search",
  fork: "append-branches fork-empty fork-whole",
  goesOn: "goes-on",
  handOver: "hand-over",
  import: "export-imported import-claude-code import-damaged import-folder import-formats import-grows",
  importAll: "import-all",
  lastContext: "context-budgets context-compared gone-session messages-empty",
  list: "append-after-completed append-durable copied-session create-kinds create-refused document-by-hand document-edit-taken-back document-gone document-newer git-remote idle-is-paused idle-while-open links-refused list-filters list-index list-index-damaged list-index-stale list-projects others-newer redact-replace relocate-project rename-and-archive resume-rested statuses timestamps unicode-titles workspace-given workspace-local-day workspace-markdown workspace-names",
  mend: "mend-one",
  move: "move-both-ways move-onto-another moved-by-another",
  "open by a beginning": "compact-by-model open-by-prefix",
  "pin of what is not there": "pin-and-unpin",
  readTranscript: "transcript",
  record: "record",
  secrets: "redact-report",
  settings: "settings",
  tidy: "tidy-archives",
  writeSetting: "settings-in-force",
};

/** What is no request of the component's. @type {Record<string, string>} */
const UNSAYABLE = {
  "another word than its two": "append-refused",
  "strategies that are no list": "context-refused",
};

tryAll("the component", (host) => new Component(host), [MISSING, UNSAYABLE]);
