// @ts-check
// What the scripts of tests/conformance/scripts try: each name of the public surface, each option, each code of an
// error. What none tries is listed here, with the reason; the lists only get shorter.
// Tries: tests/conformance/scripts/, js/wasm/options.js, js/types/errors.d.ts
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { CALLS } from "../../js/wasm/options.js";
import { OF_SESSIONS, OF_STORES, PLAIN } from "../conformance/scripting/operations.mjs";
import { names, scriptOf } from "../conformance/scripting/run.mjs";

/** @import { Step } from "../conformance/scripting/run.mjs" */

/** Names that no operation of a script is, and why. @type {Record<string, string>} */
const UNNAMED = {
  LeftoffError: "what refuses; each refusal in a record is one",
  MemoryStorage: "given to openStore, and looked for among its options",
  NodeStorage: "given to openStore, and looked for among its options",
  Session: "a class; its methods are operations",
  Store: "a class; its methods are operations",
  ToolOutputs: "a class; its methods are operations",
  Transcript: "a class; its methods are in readTranscript",
  loadWasm: "of JavaScript alone: tests/js/load-wasm.test.js, and in pages tests/browser",
  openStore: "the operation of this name is in javascript.mjs",
  "Session.fork": "the same as Store.fork, which is an operation",
  "Session.id": "part of the answer of each step that opens a session",
  "Session.notices": "part of the answer of each step that opens a session",
  "Session.path": "part of the answer of each step that opens a session",
  "Session.placement": "part of the answer of each step that opens a session",
};

/** Options that no script gives, and why. @type {Record<string, string>} */
const UNGIVEN = {
  "loadWasm.agents": "as loadWasm itself",
  "loadWasm.cl100k_base": "as loadWasm itself",
  "loadWasm.context": "as loadWasm itself",
  "loadWasm.leftoff": "as loadWasm itself",
  "loadWasm.o200k_base": "as loadWasm itself",
  "loadWasm.reader": "as loadWasm itself",
  "usage.session": "a step names a session of its own by that: tests/js/viewer-usage.test.js",
  "openStore.readOnly": "of JavaScript alone: tests/js/printed.test.js",
};

/** Codes that no script comes to, and why. @type {Record<string, string>} */
const UNMET = {
  asset_missing: "a file of the package would have to be gone",
  batch_open: "of a log in the core, which is driven by no caller",
  cancelled: "of the command line, which asks",
  completed: "of the command line",
  git_missing: "the machine would have to have no git",
  internal: "a bug",
  invalid_json: "of the core's own calls",
  invalid_path: "of a storage that is called by itself",
  invalid_range: "of a storage that is called by itself",
  invalid_summary: "a context says it in a sentence, and does without",
  invalid_vocabulary: "a file of the package would have to be damaged",
  log_replaced: "noticed and got over",
  log_shrunk: "noticed and got over",
  missing_dependency: "an optional package would have to be gone",
  no_batch: "of a log in the core, which is driven by no caller",
  no_pointer: "of leftoff/compat",
  observe_first: "of a log in the core, which is driven by no caller",
  too_large: "of compressed files and databases, which no script has",
  usage: "of the command line",
};

const OF_CONTEXTS = "window model reserve system tools encoding assumes format recall count summarize strategies only";
/** The options of calls that leave it to the core to refuse others. @type {Record<string, string>} */
const LEFT_TO_THE_CORE = {
  context: OF_CONTEXTS,
  resume: `override revives now maxBytes ${OF_CONTEXTS}`,
  writeForAgent: "agent folder env window resume",
  summaryOf: "startMessageId endMessageId maxTokens",
};
/** Which operations take the options of a call, where it is not that of its name. @type {Record<string, string>} */
const TAKEN_BY = {
  list: "list find",
  import: "import importAll",
  setting: "writeSetting unsetSetting",
  stop: "stop complete",
  outputs: "listOutputs clearOutputs outputMenu",
};
/** Options that scripts call otherwise. @type {Record<string, string>} */
const CALLED = { commandOf: "command" };

/** Each step with what it was answered, those that are asked at once among them. */
const asked = names()
  .map(scriptOf)
  .flatMap(({ steps, answers = [] }) => steps.flatMap((step, place) => flattenSteps(step, answers[place])));

/** @param {Step} step @param {any} answer @returns {{ step: Step, answer: any }[]} */
function flattenSteps(step, answer) {
  if (step.op !== "together") return [{ step, answer }];
  return step.steps.flatMap((/** @type {Step} */ one, /** @type {number} */ place) =>
    flattenSteps(one, answer?.[place]),
  );
}

/** @param {string} file */
function sourceOf(file) {
  return readFileSync(new URL(`../../js/${file}`, import.meta.url), "utf8");
}

/**
 * The methods and getters of a class that are neither private nor internal.
 * @param {string} name
 * @param {string} file
 */
function membersOf(name, file) {
  const members = sourceOf(file).matchAll(
    /^ {2}(\/\*\*(?:(?!\*\/)[^])*\*\/\s+)?(?:static |async |get |\*)*([a-z]\w*)\(.*\{/gm,
  );
  return [...members]
    .filter(([, comment = "", member]) => !/@(?:internal|private)/.test(comment) && member !== "constructor")
    .map(([, , member]) => `${name}.${member}`);
}

/** The functions and classes that js/index.js exports. */
function exportedNames() {
  return [...sourceOf("index.js").matchAll(/^export (?:\{ (.*?) \}|(?:async )?function (\w+))/gm)].flatMap(
    ([, list, one = ""]) => list?.split(", ") ?? [one],
  );
}

/** What is not tried has to be what is listed. @param {string[]} untried @param {Record<string, string>} listed */
function isListed(untried, listed) {
  assert.deepEqual(untried.sort(), Object.keys(listed).sort());
}

test("each name of the public surface is an operation of a script that is not refused there", () => {
  const operations = { ...PLAIN, ...OF_STORES, ...OF_SESSIONS };
  const answered = new Set(asked.filter(({ answer }) => !answer?.error).map(({ step }) => step.op));
  const source = Object.entries(operations)
    .filter(([op]) => answered.has(op))
    .map(([, does]) => String(does))
    .join("\n");
  const surface = [
    ...exportedNames(),
    ...membersOf("Store", "store/store.js"),
    ...membersOf("Session", "session/session.js"),
    ...membersOf("Transcript", "session/transcript.js"),
    ...membersOf("Outputs", "store/outputs.js"),
  ];
  assert.ok(surface.length > 70, `expected the surface, but found ${surface.length} names`);
  // `store.list`, `session.pins`, and a function by its call.
  const isTried = (/** @type {string} */ name) =>
    new RegExp(
      name.includes(".")
        ? `\\b${name.toLowerCase().slice(0, name.indexOf("."))}\\${name.slice(name.indexOf("."))}\\b`
        : `\\b${name}\\(`,
    ).test(source);
  isListed(
    surface.filter((name) => !isTried(name)),
    UNNAMED,
  );
});

test("each option of each call is given in a script", () => {
  const given = new Set(
    asked.flatMap(({ step: { op, limits, source, storage, ...rest } }) => [
      ...Object.keys(rest).map((key) => `${op}.${key}`),
      ...Object.keys(limits ?? {}).map((key) => `tidy.${key}`),
      ...(source ? [op === "open" ? "session.source" : `${op}.source`] : []),
      ...Object.keys(source ?? {}).map((key) => `source.${key}`),
      ...(storage ? ["openStore.storage"] : []),
      ...Object.keys(storage?.memory ?? {}).map((key) => `MemoryStorage.${key}`),
      ...Object.keys(storage?.node ?? {}).map((key) => `NodeStorage.${key}`),
    ]),
  );
  const calls = Object.entries({
    ...Object.fromEntries([...CALLS].map(([call, { names }]) => [call, names.join(" ")])),
    ...LEFT_TO_THE_CORE,
  });
  const missing = calls.flatMap(([call, options]) =>
    options
      .split(" ")
      .filter(
        (option) => !(TAKEN_BY[call] ?? call).split(" ").some((op) => given.has(`${op}.${CALLED[option] ?? option}`)),
      )
      .map((option) => `${call}.${option}`),
  );
  isListed(missing, UNGIVEN);
});

test("each code of an error is in the record of a script", () => {
  const [, ofCore = ""] = /type CoreCode = (.*);/.exec(sourceOf("records.d.ts")) ?? [];
  const codes = [...`${ofCore}${sourceOf("types/errors.d.ts").split("ErrorCode")[1]}`.matchAll(/"(\w+)"/g)].map(
    ([, code = ""]) => code,
  );
  const met = JSON.stringify(asked.map(({ answer }) => answer));
  isListed(
    [...new Set(codes)].filter((code) => !met.includes(`"code":"${code}"`)),
    UNMET,
  );
});
