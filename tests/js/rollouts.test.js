// @ts-check
// Codex's rollouts that go on with others: a fork has its whole history, and a rewound thread is one session with a
// branch.
// Tries: src/interop/codex/lineage.rs, src/operation/store/import/continuations.rs
import assert from "node:assert/strict";
import { test } from "node:test";

import { MemoryStorage, openStore } from "../../js/index.js";

const ROOT = "01a2045a-60d2-7d92-afc6-e4020f9d9661";
const FORK = "01a2045a-6dc7-7af0-a638-7a33672d155c";
const AGAIN = "01a2045b-0000-7af0-a638-7a33672d155c";
const DAY = "/user/.codex/sessions/2026/11/22";

/** @param {object} payload @param {number} ordinal */
function responseItem(payload, ordinal) {
  return {
    timestamp: `2026-11-22T17:42:${String(ordinal).padStart(2, "0")}.000Z`,
    ordinal,
    type: "response_item",
    payload,
  };
}

/** What was said in turn, from an ordinal on. @param {number} from @param {string[]} words */
function talk(from, ...words) {
  return words.map((text, place) => {
    const role = place % 2 === 0 ? "user" : "assistant";
    return responseItem(
      { type: "message", role, content: [{ type: role === "user" ? "input_text" : "output_text", text }] },
      from + place,
    );
  });
}

/** @param {string} id @param {{ ordinal: number, base?: object, words: string[] }} what */
function rollout(id, { ordinal, base, words }) {
  const timestamp = `2026-11-22T17:42:${String(ordinal).padStart(2, "0")}.000Z`;
  const head = {
    timestamp,
    ordinal,
    type: "session_meta",
    payload: { id, cwd: "/w", cli_version: "0.169.0", ...(base && { history_mode: "paginated", history_base: base }) },
  };
  return [head, ...talk(ordinal + 1, ...words)].map((record) => `${JSON.stringify(record)}\n`);
}

const root = rollout(ROOT, { ordinal: 0, words: ["one", "two", "three", "four"] });
/** What goes on with so many of the first lines. @param {string} id @param {number} lines @param {string[]} words */
function goingOn(id, lines, ...words) {
  const end = Buffer.byteLength(root.slice(0, lines).join(""));
  return rollout(id, {
    ordinal: lines,
    base: { thread_id: ROOT, end_ordinal_exclusive: lines, end_byte_offset: end },
    words,
  });
}

/** @param {Record<string, string[]>} files @param {string[]} [order] */
async function importFiles(files, order = Object.keys(files)) {
  const storage = new MemoryStorage();
  const store = await openStore({ home: "/home", project: "/", storage });
  for (const [path, lines] of Object.entries(files))
    await storage.replace(path, new TextEncoder().encode(lines.join("")));
  const results = [];
  for (const path of order) results.push(await store.import(path));
  assert.deepEqual(
    results.flatMap(({ problems }) => problems),
    [],
  );
  return { store, storage, imported: results.flatMap((result) => result.imported) };
}

/** @param {import("../../js/store/store.js").Store} store @param {string} id */
async function texts(store, id) {
  const all = [];
  for await (const { content } of (await store.session(id)).messages()) all.push(content);
  return all;
}

for (const [where, path] of /** @type {[string, string][]} */ ([
  ["on the same day", `${DAY}/rollout-2026-11-22T17-42-41-${ROOT}.jsonl`],
  ["archived", `/user/.codex/archived_sessions/rollout-2026-11-22T17-42-41-${ROOT}.jsonl`],
  ["on a day that its id does not tell", `/user/.codex/sessions/2026/10/01/rollout-2026-10-01T17-42-41-${ROOT}.jsonl`],
])) {
  test(`a fork has the history of a rollout that lies ${where}, and names the message that it was forked at`, async () => {
    const fork = `/user/.codex/sessions/2026/11/23/rollout-2026-11-23T00-01-00-${FORK}.jsonl`;
    const {
      store,
      imported: [first, second],
    } = await importFiles({ [path]: root, [fork]: goingOn(FORK, 3, "other", "end") });
    assert.deepEqual(await texts(store, first?.id ?? ""), ["one", "two", "three", "four"]);
    assert.deepEqual(await texts(store, second?.id ?? ""), ["one", "two", "other", "end"]);
    assert.deepEqual(
      second?.losses.filter(({ field }) => field.includes("history_base")),
      [],
    );
    const { forkedFrom } = (await store.session(second?.id ?? "")).metadata;
    const origin = await store.session(first?.id ?? "");
    /** @type {any[]} */
    const messages = [];
    for await (const message of origin.messages()) messages.push(message);
    assert.deepEqual(forkedFrom, { session: first?.id, messageId: messages[1].id });
  });
}

test("a fork of a fork has the history of both, and a fork goes on where it is imported again", async () => {
  const mid = goingOn(FORK, 3, "other", "end");
  const end = Buffer.byteLength(mid.slice(0, 2).join(""));
  const last = rollout(AGAIN, {
    ordinal: 5,
    base: { thread_id: FORK, end_ordinal_exclusive: 5, end_byte_offset: end },
    words: ["third", "way"],
  });
  const at = (/** @type {string} */ id) => `${DAY}/rollout-2026-11-22T17-42-41-${id}.jsonl`;
  const {
    store,
    storage,
    imported: [, , third],
  } = await importFiles({ [at(ROOT)]: root, [at(FORK)]: mid, [at(AGAIN)]: last });
  assert.deepEqual(await texts(store, third?.id ?? ""), ["one", "two", "other", "third", "way"]);
  await storage.replace(
    at(AGAIN),
    new TextEncoder().encode([...last, ...talk(8, "more").map((one) => `${JSON.stringify(one)}\n`)].join("")),
  );
  const {
    imported: [again],
  } = await store.import(at(AGAIN));
  assert.deepEqual([again?.id, again?.added], [third?.id, 1]);
  assert.deepEqual(await texts(store, third?.id ?? ""), ["one", "two", "other", "third", "way", "more"]);
});

test("a thread that was rewound is one session, in which what was said since is a branch", async () => {
  const files = {
    [`${DAY}/rollout-2026-11-22T17-42-41-${ROOT}.jsonl`]: root,
    [`${DAY}/rollout-2026-11-22T17-42-59-${ROOT}_${AGAIN}.jsonl`]: goingOn(ROOT, 3, "instead", "five"),
  };
  const {
    store,
    imported: [first, second],
  } = await importFiles(files, [...Object.keys(files), ...Object.keys(files)]);
  assert.deepEqual([second?.id, second?.added], [first?.id, 2]);
  assert.equal((await store.list({ all: true })).length, 1);
  const session = await store.session(first?.id ?? "");
  /** @type {any[]} */
  const messages = [];
  for await (const message of session.messages({ allBranches: true })) messages.push(message);
  assert.deepEqual(
    messages.map(({ content, branch }) => [content, branch]),
    [
      ["one", undefined],
      ["two", undefined],
      ["three", undefined],
      ["four", undefined],
      ["instead", true],
      ["five", undefined],
    ],
  );
  assert.equal(messages[4].parentId, messages[1].id);
  // The branch is what the conversation goes on with.
  const { messages: sent } = await session.context({ window: 100_000, format: "openai-chat" });
  assert.deepEqual(
    sent.map((/** @type {any} */ { content }) => content),
    ["one", "two", "instead", "five"],
  );
});

test("what a rollout goes on with and is not there is listed as lost, and nothing else is", async () => {
  const path = `${DAY}/rollout-2026-11-22T17-42-41-${FORK}.jsonl`;
  const cases = {
    "not there": {},
    "shorter than it was": { [`${DAY}/rollout-2026-11-22T17-42-41-${ROOT}.jsonl`]: root.slice(0, 2) },
  };
  for (const [what, others] of Object.entries(cases)) {
    const { store, imported: all } = await importFiles({ ...others, [path]: goingOn(FORK, 3, "other", "end") });
    const fork = all.at(-1);
    assert.deepEqual(await texts(store, fork?.id ?? ""), ["other", "end"], what);
    assert.equal(fork?.losses.filter(({ field }) => field === "session_meta.payload.history_base").length, 1, what);
  }
  // One that names itself has no beginning.
  const own = rollout(ROOT, {
    ordinal: 1,
    base: { thread_id: ROOT, end_ordinal_exclusive: 1, end_byte_offset: 0 },
    words: ["one"],
  });
  const {
    store,
    imported: [one],
  } = await importFiles({ [`${DAY}/rollout-2026-11-22T17-42-41-${ROOT}.jsonl`]: own });
  assert.deepEqual(await texts(store, one?.id ?? ""), ["one"]);
});
