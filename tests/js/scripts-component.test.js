// @ts-check
// The scripts of tests/conformance/scripts by the component: the same answers, and the same bytes on the disk, as
// JavaScript's were recorded.
// Tries: crates/component/
import { Component } from "../conformance/scripting/component.mjs";
import { tryAll } from "../conformance/scripting/door.mjs";

/**
 * What the component has not yet, or the host that tries it, and which scripts want it. The list only gets shorter.
 * @type {Record<string, string>}
 */
const MISSING = {
  "the file that is looked at first where the store was closed": "closed-store damage-log-a-folder",
};

/** What is no request of the component's. @type {Record<string, string>} */
const UNSAYABLE = {
  "another word than its two": "append-refused",
  "a text that is none": "counting-refused",
  "strategies that are no list": "context-refused",
  "an option that nobody knows": "delete-refused import-refused options-unknown record-refused",
  "another word than its three": "redact-refused redact-report",
  "a signal": "follow-refused",
  "two appends that wait together: each is a batch of its own": "follow-revised",
  "a storage beside the host's own":
    "memory-full memory-full-midway memory-rename-fails memory-store storage-codes storage-of-node storage-refused memory-clock",
};

tryAll("the component", (host) => new Component(host), [MISSING, UNSAYABLE]);
