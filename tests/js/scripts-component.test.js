// @ts-check
// The scripts of tests/conformance/scripts by the component: the same answers, and the same bytes on the disk, as JavaScript's were
// recorded.
import { Component } from "../conformance/scripting/component.mjs";
import { tryAll } from "../conformance/scripting/door.mjs";

/** What the component has not yet, or the host that tries it, and which scripts want it. The list only gets shorter. @type {Record<string, string>} */
const MISSING = {
  "append of a whole answer": "append-answers",
  commit: "git-commit git-none",
  doctor: "blobs-gone checkpoint-damaged continue-points copied-session delete-leaves-nothing document-by-hand document-gone document-newer left-open left-overs links-refused list-index-damaged list-index-stale others-cut others-damage others-newer others-tear pointer-dangling summary-damaged workspace-document-by-hand",
  "a folder that is none": "list-projects",
  git: "git-remote",
  goesOn: "goes-on",
  writeForAgent: "hand-over",
  import: "export-imported import-claude-code import-damaged import-folder import-formats import-grows",
  importAll: "import-all",
  lastContext: "context-budgets context-compared gone-session messages-empty",
  mend: "mend-one",
  others: "delete-open-elsewhere",
  readTranscript: "transcript",
  record: "record",
  relocate: "relocate-project",
  "secrets of a host's rules": "redact-replace redact-report",
  redacted: "asked-oddly",
};

/** What is no request of the component's. @type {Record<string, string>} */
const UNSAYABLE = {
  "another word than its two": "append-refused",
  "a text that is none": "counting-refused",
  "strategies that are no list": "context-refused",
};

tryAll("the component", (host) => new Component(host), [MISSING, UNSAYABLE]);
