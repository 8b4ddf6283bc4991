// @ts-check
/** A conversation with twenty facts in it, and prompts later on that ask about them. */

import { conversation } from "./conversation.mjs";

/** Facts are planted one in so many calls, from the first one on. */
const FIRST_FACT = 4;
const FACT_STEP = 7;
/** From this call on, each prompt asks about a fact. */
const FIRST_QUESTION = 60;

/**
 * @typedef {import("./conversation.mjs").Draft} Draft
 * @typedef {{ by: "user" | "assistant" | "tool", text: string, mark: string, question: string }} Fact
 *   `mark`: the words that stand nowhere else
 * @typedef {{ draft: Draft, planted: Fact[], asked: Fact | undefined }} Planted what was planted up to the draft, and
 *   what the newest prompt asks about
 */

/** @type {Fact[]} */
const FACTS = [
  ["user", "The gateway must listen on port 47113, never on 8080.", "47113", "Which port must the gateway listen on?"],
  [
    "tool",
    "warning: quota of tenant umbrella-9 is 6125 requests a minute",
    "6125",
    "What is the quota of tenant umbrella-9?",
  ],
  [
    "assistant",
    "I decided to keep invoices in the table ledger_north.",
    "ledger_north",
    "In which table do we keep invoices?",
  ],
  ["user", "Please never touch vendor/quillfish, it is generated.", "quillfish", "Which vendor folder is generated?"],
  [
    "tool",
    "config: retries of the uploader = 17, backoff 230 ms",
    "retries of the uploader = 17",
    "How many retries does the uploader have?",
  ],
  [
    "assistant",
    "Decision: the nightly export runs at 03:41, after the backup.",
    "03:41",
    "When does the nightly export run?",
  ],
  ["user", "The customer who reported it is called Marrowby Freight.", "Marrowby", "Which customer reported it?"],
  [
    "tool",
    "ok: wrote build/zephyr-crate.tgz, sha256 9f3ac077e1",
    "zephyr-crate",
    "What is the archive called that the build wrote?",
  ],
  [
    "assistant",
    "The race was caused by flushWidgetLedger being called twice.",
    "flushWidgetLedger",
    "What caused the race?",
  ],
  [
    "user",
    "We go with Postgres 16.9 for staging, not with MySQL.",
    "Postgres 16.9",
    "Which database do we take for staging?",
  ],
  [
    "tool",
    "error: certificate of relay.osprey.internal expired on 2026-02-17",
    "relay.osprey",
    "Which host's certificate expired?",
  ],
  [
    "assistant",
    "Decision: sessions time out after 2,750 seconds.",
    "2,750 seconds",
    "After how many seconds do sessions time out?",
  ],
  ["user", "Use the branch feature/tamarind-7 for all of this.", "tamarind-7", "Which branch do we use?"],
  [
    "tool",
    "coverage of src/orbit/solver.ts: 61.37 percent of lines",
    "61.37",
    "How high is the coverage of the solver?",
  ],
  ["assistant", "I chose the library hexagate for parsing dates.", "hexagate", "Which library parses dates?"],
  ["user", "The release is planned for 23 April, with Ondine as reviewer.", "Ondine", "Who reviews the release?"],
  [
    "tool",
    "feature flag checkout_v3_basil is on for 12 percent",
    "checkout_v3_basil",
    "Which feature flag is on for checkout?",
  ],
  [
    "assistant",
    "The metrics endpoint moved to /internal/pulse-metrics.",
    "pulse-metrics",
    "Where did the metrics endpoint move?",
  ],
  [
    "user",
    "Error codes of the importer should start at E7300.",
    "E7300",
    "At which number do the importer's error codes start?",
  ],
  [
    "tool",
    "index idx_parcels_by_dock takes 884 MB on disk",
    "idx_parcels_by_dock",
    "Which index takes so much space on disk?",
  ],
].map(([by, text, mark, question]) => /** @type {Fact} */ ({ by, text, mark, question }));

export const TASK = "Move the parcel service off the legacy scheduler, and keep its public API as it is.";
export const OPEN_TASKS = ["Rewrite the dock calendar by hand", "Measure the parcel queue under load"];
export const CHANGED_FILES = [
  "src/parcel/scheduler-bridge.ts",
  "src/parcel/dock-calendar.ts",
  "tests/parcel/bridge.test.ts",
];
export const FAILED_COMMANDS = ["npm run verify:parcels", "make dock-image"];

/** @param {number} seed @returns {Generator<Planted>} without an end */
export function* plantedConversation(seed) {
  /** @type {Fact[]} */
  const planted = [];
  /** @type {Fact | undefined} */
  let asked;
  let [calls, questions] = [0, 0];
  for (const draft of withWork(conversation(seed))) {
    const next = FACTS[planted.length];
    if (next && next.by === draft.role && calls >= FIRST_FACT + planted.length * FACT_STEP) {
      planted.push(next);
      draft.content = insertLine(draft.content, next.text);
    }
    if (draft.role === "user") {
      asked = calls < FIRST_QUESTION ? undefined : planted[(questions++ * 7) % planted.length];
      if (asked) draft.content = asked.question;
    }
    if (draft.role === "assistant") calls += 1;
    yield { draft, planted: [...planted], asked };
  }
}

/** The task, and the calls that a summary has to tell of, early. @param {Iterable<Draft>} drafts */
function* withWork(drafts) {
  yield { role: "user", content: TASK };
  const todos = OPEN_TASKS.map((content) => ({ content, status: "pending", activeForm: content }));
  const edits = CHANGED_FILES.map((file_path) => ({ file_path, old_string: "a", new_string: "b" }));
  const failure = { exitCode: 1, isError: true };
  const work = [
    { name: "TodoWrite", given: { todos }, result: "Todos have been modified successfully." },
    ...edits.map((given) => ({ name: "Edit", given, result: "The file has been updated." })),
    ...FAILED_COMMANDS.map((command) => ({ name: "Bash", given: { command }, result: "2 checks failed", ...failure })),
  ];
  for (const [place, { name, given, result, ...outcome }] of work.entries()) {
    const id = `work_${place}`;
    const toolCalls = [{ id, name, arguments: JSON.stringify(given) }];
    yield { role: "assistant", content: "", assistant: { model: "gpt-5", toolCalls, finishReason: "tool_calls" } };
    yield { role: "tool", content: result, tool: { callId: id, name, ...outcome } };
  }
  yield* drafts;
}

/** @param {string} text @param {string} line */
function insertLine(text, line) {
  const middle = text.indexOf("\n", text.length / 2);
  return middle < 0 ? `${text}\n${line}` : `${text.slice(0, middle)}\n${line}${text.slice(middle)}`;
}
