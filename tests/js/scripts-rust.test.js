// @ts-check
// The scripts of tests/conformance/scripts in Rust: the same answers, and the same bytes on the disk, as JavaScript's
// were recorded.
// Tries: src/fs/, src/fs/agents/, src/fs/disk/, src/fs/session/, src/fs/store/
import { tryAll } from "../conformance/scripting/door.mjs";
import { inRust } from "../conformance/scripting/rust.mjs";

/**
 * What the Rust host has not yet, and which scripts want it. The list only gets shorter.
 * @type {Record<string, string>}
 */
const MISSING = {
  "the file that is looked at first where the store was closed": "closed-store damage-log-a-folder",
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
  "an option that nobody knows": "delete-refused import-refused options-unknown record-refused",
  "one agent for the files of all": "import-all",
  "a signal": "follow-refused",
  "a size that is none": "resume-max-bytes",
  "two appends that wait together: each is a batch of its own": "follow-revised",
  "a storage of the caller's own: it has files alone":
    "memory-full memory-full-midway memory-rename-fails memory-store storage-codes storage-of-node storage-refused memory-clock",
  "half of a character": "unicode-halves",
};

tryAll("Rust", inRust(), [MISSING, UNSAYABLE]);
