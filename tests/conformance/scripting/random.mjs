// @ts-check
/** Scripts by chance: what callers, a second store and other processes may do one after another. */

import fc from "fast-check";

/** @import { Step } from "./run.mjs" */

/**
 * What was made so far.
 * @typedef {{ sessions: { name: string, said: string[] }[], count: number, hasOther: boolean }} State
 */
/** @typedef {{ which: number, n: number }} Chance */

const WINDOWS = [200, 1200, 8000, 128_000];
const WORDS = [
  "open src/date.rs",
  "why does the test fail?",
  "TODO: write it down",
  "done.\nreally",
  "Ümläuts — and 漢字 🙂",
  "",
];
const LONGEST = 24;

/**
 * How often each is taken, and what it is.
 * @type {Record<string, { often: number, steps: (state: State, chance: Chance) => Step[] }>}
 */
const KINDS = {
  create: {
    often: 4,
    steps: (state, { n }) => {
      const name = `s${state.sessions.push({ name: `s${state.sessions.length}`, said: [] }) - 1}`;
      return [
        { op: "create", as: name, title: n % 3 ? `title ${n}` : undefined, placement: n % 2 ? "home" : "workspace" },
      ];
    },
  },
  append: {
    often: 12,
    steps: (state, { which, n }) => [
      {
        op: "append",
        session: pickSession(state, which).name,
        messages: draftMessages(state, which, n),
        durability: n % 2 ? "durable" : "buffered",
      },
    ],
  },
  again: {
    often: 2,
    steps: (state, { which, n }) => [
      {
        op: "append",
        session: pickSession(state, which).name,
        messages: { id: idOf(state, which, n), role: "assistant", content: `again ${n}`, rev: n % 4 },
      },
    ],
  },
  tool: {
    often: 3,
    steps: (state, { which, n }) => [
      {
        op: "appendTool",
        session: pickSession(state, which).name,
        execution: {
          call: { id: `c${n % 5}`, name: "ls", arguments: { n } },
          result: { content: text(n), success: n % 3 !== 0 },
          durationMs: n,
        },
      },
    ],
  },
  said: {
    often: 6,
    steps: (state, { which, n }) => [
      { ...(SAID[n % SAID.length] ?? { op: "stop" }), session: pickSession(state, which).name },
    ],
  },
  pin: {
    often: 2,
    steps: (state, { which, n }) => [
      { op: n % 3 ? "pin" : "unpin", session: pickSession(state, which).name, messageId: idOf(state, which, n) },
    ],
  },
  read: {
    often: 6,
    steps: (state, { which, n }) => [
      { ...(READ[n % READ.length] ?? { op: "state" }), session: pickSession(state, which).name },
    ],
  },
  context: {
    often: 4,
    steps: (state, { which, n }) => [
      {
        op: "context",
        session: pickSession(state, which).name,
        window: WINDOWS[n % 4],
        ...(n % 5 === 0 && { summarize: { answers: ["they talked"] } }),
      },
    ],
  },
  compact: {
    often: 2,
    steps: (state, { which, n }) => [
      {
        op: "compact",
        session: pickSession(state, which).name,
        window: WINDOWS[n % 4],
        apply: n % 2 === 0,
        undo: n % 7 === 0,
      },
    ],
  },
  resume: {
    often: 2,
    steps: (state, { which, n }) => [
      { op: "resume", session: pickSession(state, which).name, window: WINDOWS[n % 4], override: n % 2 === 0 },
    ],
  },
  fork: {
    often: 1,
    steps: (state, { which, n }) => [
      { op: "fork", session: pickSession(state, which).name, as: "fork", ...(n % 2 && { at: idOf(state, which, n) }) },
    ],
  },
  move: {
    often: 2,
    steps: (state, { which, n }) => [
      { op: "move", session: pickSession(state, which).name, to: n % 2 ? "home" : "workspace" },
    ],
  },
  delete: {
    often: 1,
    steps: (state, { which, n }) => [{ op: "delete", session: pickSession(state, which).name, purge: n % 4 === 0 }],
  },
  list: {
    often: 4,
    steps: (_, { n }) => [
      { op: "list", all: n % 2 === 0, archived: n % 3 ? null : undefined, limit: n % 5 === 0 ? 1 : undefined },
    ],
  },
  search: { often: 1, steps: (_, { n }) => [{ op: "search", words: text(n).slice(0, 4), archived: null }] },
  doctor: { often: 2, steps: (_, { n }) => [{ op: "doctor", fix: n % 2 === 0 }] },
  wait: { often: 2, steps: (_, { n }) => [{ op: "wait", ms: n % 2 ? 30 : 600_000 }] },
  reopen: {
    often: 3,
    steps: ({ sessions }) => [
      { op: "closeStore" },
      { op: "openStore" },
      ...sessions.map(({ name }) => ({ op: "open", id: `$${name}.id`, session: name })),
    ],
  },
  other: {
    often: 3,
    steps: (state, { which, n }) => {
      const begun = state.hasOther ? [] : [{ op: "openStore", as: "other" }];
      state.hasOther = true;
      const { name } = pickSession(state, which);
      const does =
        n % 3
          ? { op: "append", messages: draftMessages(state, which, n) }
          : { op: "rename", title: `by the other ${n}` };
      return [
        ...begun,
        { op: "open", store: "other", id: `$${name}.id`, session: `other-${name}` },
        { ...does, session: `other-${name}`, ifThere: true },
      ];
    },
  },
  foreign: { often: 6, steps: (state, { which, n }) => [foreign(`<${pickSession(state, which).name}>`, n)] },
};

const SAID = [
  { op: "stop" },
  { op: "pause" },
  { op: "complete", summary: "it is done" },
  { op: "archive" },
  { op: "unarchive" },
  { op: "rename", title: "another" },
  { op: "setAgent", agent: { model: "gpt-4o" } },
  { op: "flush" },
];
const READ = [
  { op: "messages" },
  { op: "messages", newestFirst: true, most: 2 },
  { op: "messages", allBranches: true },
  { op: "tools" },
  { op: "state" },
  { op: "brief" },
  { op: "examine" },
  { op: "metadata" },
  { op: "export", format: "json" },
  { op: "export", format: "markdown" },
  { op: "pins" },
  { op: "lastContext" },
  { op: "lastContext", full: true },
];

/** Bytes of other processes. @param {string} folder @param {number} n @returns {Step} */
function foreign(folder, n) {
  const messages = `${folder}/messages.jsonl`;
  const all = [
    {
      op: "appendFile",
      file: messages,
      lines: [{ id: `f-${n}`, timestamp: "2026-03-01T09:00:00.500Z", role: "user", content: text(n) }],
    },
    { op: "appendFile", file: messages, text: `{"v":1,"id":"torn-${n}","role":"us` },
    { op: "appendFile", file: messages, text: "\n\0\0\0\n<<<<<<< HEAD\n" },
    {
      op: "appendFile",
      file: `${folder}/events.jsonl`,
      lines: [{ id: `e-${n}`, timestamp: "2026-03-01T09:00:00.500Z", type: "title", title: `by hand ${n}` }],
    },
    { op: "cutFile", file: messages, bytes: 1 + (n % 2) },
    { op: "writeFile", file: `${folder}/metadata.json`, text: '{"display":{"title":"by hand"}' },
    { op: "writeFile", file: `${folder}/session.json`, text: '{"title":"by hand","status":"completed"}' },
    { op: "removeFile", file: `${folder}/metadata.json` },
    { op: "removeFile", file: "<home>/cache" },
    { op: "removeFile", file: "<home>/sessions/index.jsonl" },
    { op: "removeFile", file: "<project>/.leftoff" },
  ];
  return { ...(all[n % all.length] ?? { op: "wait", ms: 1 }), ifThere: true };
}

/** @param {State} state @param {number} which */
function pickSession({ sessions }, which) {
  return /** @type {State["sessions"][number]} */ (sessions[which % sessions.length]);
}

/** @param {number} n */
function text(n) {
  return `${WORDS[n % WORDS.length]} `.repeat(1 + (n % 9));
}

/** @param {State} state @param {number} which @param {number} n */
function draftMessages(state, which, n) {
  return Array.from({ length: 1 + (n % 3) }, (_, place) => {
    const id = `m-${(state.count += 1)}`;
    pickSession(state, which).said.push(id);
    return { id, role: (n + place) % 2 ? "assistant" : "user", content: text(n + place) };
  });
}

/** A message of the session, or nobody's. @param {State} state @param {number} which @param {number} n */
function idOf(state, which, n) {
  return pickSession(state, which).said[n % (pickSession(state, which).said.length + 1)] ?? "nobody";
}

const pick = fc.record({
  kind: fc.constantFrom(...Object.entries(KINDS).flatMap(([kind, { often }]) => Array(often).fill(kind))),
  which: fc.nat(63),
  n: fc.nat(1023),
});

/** Scripts by chance, which get shorter where they fail. */
export const scripts = fc.array(pick, { minLength: 1, maxLength: LONGEST, size: "max" }).map((picks) => {
  const { steps, state } = stepsOf(picks);
  return {
    steps: [
      { op: "openStore" },
      ...steps,
      { op: "closeStore" },
      ...(state.hasOther ? [{ op: "closeStore", store: "other" }] : []),
    ],
  };
});

/** What takes nothing away. */
const KEEPS = Object.keys(KINDS).filter((kind) => !["again", "delete", "foreign", "doctor"].includes(kind));
const kept = fc.record({
  kind: fc.constantFrom(...KEEPS.flatMap((kind) => Array(KINDS[kind]?.often ?? 1).fill(kind))),
  which: fc.nat(63),
  n: fc.nat(1023),
  call: fc.oneof(fc.nat(12), fc.nat(80)),
});

/**
 * Scripts in which others append whole lines while operations are under way. At the end each session's messages are
 * read in a store of its own; nothing that was acknowledged, and nothing of the others', may be missing there.
 */
export const interrupted = fc.array(kept, { minLength: 1, maxLength: LONGEST, size: "max" }).map((picks) => {
  const { steps, state } = stepsOf(picks, (step, { call, n }, number) => {
    const { session = "s0" } = step;
    const line = {
      op: "appendFile",
      ifThere: true,
      file: `<${session}>/messages.jsonl`,
      lines: [{ id: `f-${number}`, timestamp: "2026-03-01T09:00:00.500Z", role: "user", content: text(n) }],
    };
    return call > 0 && !["create", "openStore", "closeStore", "wait"].includes(step.op)
      ? { ...step, between: { call, steps: [line] } }
      : step;
  });
  const opened = steps.map((step) => (step.op === "openStore" ? { ...step, isInterrupted: true } : step));
  const read = state.sessions.flatMap(({ name }) => [
    { op: "open", id: `$${name}.id`, session: `last-${name}` },
    { op: "messages", session: `last-${name}`, allBranches: true },
  ]);
  const closed = [{ op: "closeStore" }, ...(state.hasOther ? [{ op: "closeStore", store: "other" }] : [])];
  return {
    steps: [
      { op: "openStore", isInterrupted: true },
      ...opened,
      ...closed,
      { op: "openStore" },
      ...read,
      { op: "closeStore" },
    ],
  };
});

/**
 * @template {Chance & { kind: string }} T
 * @param {T[]} picks @param {(step: Step, chance: T, number: number) => Step} [changed]
 */
function stepsOf(picks, changed = (step) => step) {
  /** @type {State} */
  const state = { sessions: [], count: 0, hasOther: false };
  const first = /** @type {T} */ ({ kind: "create", which: 0, n: 1 });
  let number = 0;
  const steps = [first, ...picks].flatMap((pick) =>
    (KINDS[pick.kind]?.steps(state, pick) ?? []).map((step) => changed(step, pick, (number += 1))),
  );
  return { steps, state };
}
