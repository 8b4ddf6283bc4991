// @ts-check
// What a search prints: columns in a pipe, and on a terminal the hits with the words in color, by how much of the words
// they have.
// Tries: js/cli/search.js, js/cli/hits.js
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import { searchText } from "../../js/cli/hits.js";
import { openStore } from "../../js/index.js";
import { nodePath } from "./node-path.js";
import { entry, noTerminal, onTerminal } from "./terminal.js";

/** @typedef {{ title: string, said: string[], project?: string }} SessionSpec */
/**
 * @typedef {{ folder: string, env: Record<string, string>, typed: (...args: string[]) => { status: number | null, stdout: string, stderr: string } }} CliScene
 */

/**
 * @param {string} name
 * @param {SessionSpec[]} wanted sessions, the first one the newest
 * @param {(where: CliScene, ids: string[]) => Promise<void>} work
 * @param {{ skip?: string | false }} [options]
 */
function check(name, wanted, work, options = {}) {
  test(name, options, async () => {
    const folder = realpathSync(mkdtempSync(join(tmpdir(), "leftoff-hits-")));
    const env = { PATH: process.env.PATH ?? "", HOME: folder, LEFTOFF_HOME: join(folder, "home") };
    mkdirSync(join(folder, "here"));
    const typed = (/** @type {string[]} */ ...args) =>
      spawnSync(nodePath, [entry, ...args], { cwd: join(folder, "here"), env, encoding: "utf8" });
    try {
      await work({ folder, env, typed }, await storeSessions(folder, wanted));
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
}

/** @param {string} folder @param {SessionSpec[]} wanted */
async function storeSessions(folder, wanted) {
  const ids = [];
  for (const [place, { title, said, project = "here" }] of wanted.entries()) {
    mkdirSync(join(folder, project), { recursive: true });
    const store = await openStore({ home: join(folder, "home"), project: join(folder, project), countTokens: false });
    const session = await store.create({ title });
    const timestamp = new Date(Date.UTC(2026, 9, 20 - place, 12)).toISOString();
    for (const [nth, content] of said.entries())
      await session.append({ role: nth % 2 === 0 ? "user" : "assistant", content, timestamp });
    await session.pause();
    ids.push(session.id);
    await store.close();
  }
  return ids;
}

const TWO = [
  { title: "Pins", said: ["Hello.", "We pin croniter:\nversion 2 drops\tPython 3.8."] },
  { title: "Zebra", said: ["croniter is a library"], project: "there" },
];

check(
  "in a pipe each hit is a line of columns, and nothing is said beside",
  TWO,
  async ({ folder, typed }, [pins, zebra]) => {
    const rows = (/** @type {string[]} */ ...args) =>
      typed("search", ...args)
        .stdout.split("\n")
        .slice(0, -1)
        .map((line) => line.split("\t"));
    const found = rows("--all", "croniter", "pin");
    assert.deepEqual(found, [
      [
        pins,
        "",
        join(folder, "here"),
        "2026-10-20T12:00:00.000Z",
        "2",
        "assistant",
        "2026-10-20T12:00:00.000Z",
        "all",
        "croniter,pin",
        "",
        "Pins",
        "We pin croniter: version 2 drops Python 3.8.",
      ],
      [
        zebra,
        "",
        join(folder, "there"),
        "2026-10-19T12:00:00.000Z",
        "1",
        "user",
        "2026-10-19T12:00:00.000Z",
        "some",
        "croniter",
        "pin",
        "Zebra",
        "croniter is a library",
      ],
    ]);
    // The title alone is no message.
    assert.deepEqual(
      rows("--all", "zebra").map((row) => [row[4], row[5], row[7], row[11]]),
      [["", "", "title", "Zebra"]],
    );
    const more = typed("search", "--all", "croniter", "--limit", "1");
    assert.equal(more.stdout.split("\n").length, 2);
    assert.match(more.stderr, /^leftoff: more sessions match; --limit N shows N\n$/);
  },
);

check("what is nowhere is said, in a pipe on standard error", TWO, async ({ typed }) => {
  const some = typed("search", "croniter", "cloud", "zeppelin");
  assert.match(some.stdout, /\tsome\tcroniter\tcloud,zeppelin\t/);
  assert.equal(some.stderr, 'leftoff: "cloud" and "zeppelin" were found nowhere\n');
  for (const [words, expected] of /** @type {[string[], string][]} */ ([
    [["cloud"], '"cloud" was found nowhere in this project'],
    [["cloud", "zeppelin"], '"cloud" and "zeppelin" were found nowhere in this project'],
    [['"a cloud"'], 'nothing in this project matches "a cloud"'],
    [["--file", "a.rs"], "nothing in this project matches a.rs"],
  ])) {
    const { status, stdout, stderr } = typed("search", ...words);
    assert.deepEqual([status, stdout, stderr], [0, "", `leftoff: ${expected}; --all searches all projects\n`]);
  }
});

check("the number of a hit is the one that show takes", TWO, async ({ typed }, [pins = ""]) => {
  const [hit] = JSON.parse(typed("search", "croniter", "cloud", "--json").stdout);
  assert.deepEqual([hit.session, hit.number, hit.missing, hit.nowhere], [pins, 2, ["cloud"], ["cloud"]]);
  assert.match(typed("show", pins, "--at", String(hit.number)).stdout, /^--- 2 assistant, [^\n]*\nWe pin croniter:\n/);
});

const MANY = [
  { title: "Only one word", said: ["the croniter alone"] },
  { title: "All of them", said: ["we pin the croniter", "to a version:\n1.4"] },
  { title: "Nearly", said: ["the cronitter"] },
];

check(
  "on a terminal hits with all words stand first, the words in color, and lines are lines",
  MANY,
  async ({ folder, env }) => {
    const { status, raw, shown } = await onTerminal(
      ["search", "pin", "croniter", "cloud"],
      { cwd: join(folder, "here"), env: { ...env, PAGER: "cat" } },
      async ({ see }) => void (await see("alone")),
    );
    assert.equal(status, 0);
    const lines = shown.split(/\r?\n/);
    assert.equal(lines[0], '"cloud" was found nowhere');
    assert.match(lines[2] ?? "", /^ ?1 {2}\S{8,} {2}All of them /);
    assert.match(lines[3] ?? "", /^ +1 user  we pin the croniter$/);
    assert.match(shown, /\n\r?\nonly some of the words:\r?\n ?2 {2}\S{8,} {2}Only one word /);
    assert.match(shown, /\n +1 user {2}the croniter alone {2}\(1 of 2 words\)\r?\n/);
    assert.ok(raw.includes("we \u001b[1;31mpin\u001b[0m the \u001b[1;31mcroniter\u001b[0m"), JSON.stringify(raw));
  },
  { skip: noTerminal },
);

check(
  "without colors the words stand between marks, and a pager is used as git uses it",
  MANY,
  async ({ folder, env }) => {
    const where = { cwd: join(folder, "here"), env: { ...env, NO_COLOR: "1", PAGER: "sed s/^/paged:/" }, rows: 4 };
    const { shown } = await onTerminal(["search", "croniter"], where, async ({ see }) => void (await see("alone")));
    assert.match(shown, /^paged:.*\r?\n(?:paged:.*\r?\n)*paged: +1 user {2}we pin the »croniter«\r?\n/);
    const plain = await onTerminal(
      ["search", "croniter", "--no-pager"],
      where,
      async ({ see }) => void (await see("alone")),
    );
    assert.doesNotMatch(plain.shown, /paged:/);
  },
  { skip: noTerminal },
);

/** @param {Partial<import("../../js/types/index.js").Found>} more @returns {any} */
const hit = (more) => ({
  session: {
    id: "0".repeat(36),
    path: "/p",
    title: "T",
    lastActive: "2026-10-20T12:00:00.000Z",
    messageCount: 3,
    status: "paused",
  },
  found: "all",
  words: ["a"],
  id: "m",
  role: "user",
  number: 3,
  excerpt: [{ text: "a", isHit: true }],
  ...more,
});

test("groups say what they are, and only where there is more than hits that have all words", () => {
  const text = (/** @type {any[]} */ ...sessions) =>
    searchText(
      sessions.map((one, place) => [{ ...one, session: { ...one.session, path: `/${place}` } }]),
      { columns: 80, isColored: false, idLength: 8 },
    ).text;
  const heads = (/** @type {string} */ shown) => shown.split("\n").filter((line) => line.endsWith(":"));
  assert.deepEqual(heads(text(hit({}), hit({ found: "exact" }))), []);
  assert.deepEqual(heads(text(hit({ found: "some", missing: ["b"] }))), [
    "no message has all of the words; these have some:",
  ]);
  assert.deepEqual(heads(text(hit({ found: "prefix" }), hit({ found: "some", missing: ["b"] }), hit({}))), [
    "only some of the words:",
    "only words that begin or are spelled like these:",
  ]);
  assert.deepEqual(heads(text(hit({ found: "spelling" }))), ["only words that begin or are spelled like these:"]);
});

test("stored text steers no terminal", () => {
  const { text } = searchText(
    [
      [
        hit({
          session: { ...hit({}).session, title: "\u001b]0;x\u0007T\u001b[31m" },
          excerpt: [
            { text: "a\u001b[2Jb\r\n\n\n", isHit: false },
            { text: "\u001b[5mw\u0007", isHit: true },
          ],
        }),
      ],
    ],
    { columns: 80, isColored: true, idLength: 8 },
  );
  assert.doesNotMatch(text.replace(/\u001b\[[\d;]*m/g, ""), /[\u0000-\u0009\u000b-\u001f]/);
  assert.doesNotMatch(text, /\u001b\[5m|\u001b\[31m/);
});
