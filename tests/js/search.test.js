// @ts-check
// Sessions are found by what they are called, and by what was said in them; as a person types it, too.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import { openStore } from "../../js/index.js";
import { PLANTED, leaked } from "./planted-secrets.js";

/** @typedef {import("../../js/store/store.js").Store} Store */

const entry = fileURLToPath(new URL("../../pkg/cli.js", import.meta.url));

/** @param {(places: { folder: string, opened: (redact?: any) => Promise<Store>, typed: (...args: string[]) => ReturnType<typeof spawnSync> & { stdout: string, stderr: string } }) => Promise<void>} work */
async function inFolder(work) {
  const folder = mkdtempSync(join(tmpdir(), "leftoff-search-"));
  /** @type {Store[]} */
  const open = [];
  const opened = async (/** @type {any} */ redact) => {
    const store = await openStore({ home: join(folder, ".leftoff"), project: folder, redact });
    open.push(store);
    return store;
  };
  const env = { PATH: process.env.PATH, HOME: folder, LEFTOFF_HOME: join(folder, ".leftoff") };
  const typed = (/** @type {string[]} */ ...args) => /** @type {any} */ (spawnSync(process.execPath, [entry, ...args, "--workspace", folder], { env, encoding: "utf8" }));
  try {
    await work({ folder, opened, typed });
  } finally {
    for (const store of open) await store.close();
    rmSync(folder, { recursive: true });
  }
}

/** @param {Store} store */
async function three(store) {
  const ids = [];
  for (const [title, summary] of [["Auth Token Expiry Issue", "race condition in token refresh"], ["API Design Discussion", "REST vs GraphQL"], ["API Keys", "rotate them"]]) {
    const session = await store.create({ title });
    await session.append({ role: "user", content: `about ${title}` });
    await session.stop({ summary });
    ids.push(session.id);
  }
  return ids;
}

/** @param {AsyncIterable<import("../../js/types/index.js").Hit & { session: { id: string } }>} hits */
async function all(hits) {
  const found = [];
  for await (const { session, id, excerpt } of hits) found.push({ session: session.id, id, text: excerpt.map(({ text }) => text).join(""), words: excerpt.filter(({ isHit }) => isHit).map(({ text }) => text) });
  return found;
}

test("a session is found by words of its title and summary, the best first", () =>
  inFolder(async ({ opened }) => {
    const store = await opened();
    const [auth, design, keys] = await three(store);
    const found = async (/** @type {string} */ words) => (await store.find(words)).map(({ id }) => id);
    assert.deepEqual(await found("graphql"), [design]);
    assert.deepEqual(new Set(await found("api")), new Set([design, keys]));
    assert.deepEqual(await found("tokn refrsh"), [auth]);
    assert.deepEqual(await found("nobody said it"), []);
  }));

test("words are found in every message that has all of them, across what is read at once, and in blobs", () =>
  inFolder(async ({ opened }) => {
    const store = await opened();
    const session = await store.create();
    const expected = [];
    for (let place = 0; place < 40; place += 1) {
      const isHit = place % 3 === 0;
      const content = `${"filler ".repeat(place * 900)}${isHit ? "The NEEDLE in a “haystack”" : "a needle"}${" behind".repeat(place * 900)}`;
      const { records } = await session.append({ role: "user", content });
      if (isHit) expected.unshift(records[0]?.id);
    }
    const hits = await all(store.search("needle haystack"));
    assert.deepEqual(hits.map(({ id }) => id), expected);
    for (const { words } of hits) assert.deepEqual(words, ["NEEDLE", "haystack"]);
    assert.equal((await all(store.search("needle"))).length, 40);
    assert.deepEqual(await all(store.search("")), []);
  }));

test("a message that was written again is found by its newest words, and a cut secret does not get out", () =>
  inFolder(async ({ opened }) => {
    const store = await opened("replace");
    const session = await store.create();
    const [{ secret } = { secret: "" }] = PLANTED.anthropic ?? [];
    const { records: [first] } = await session.append({ role: "assistant", content: "old words", partial: true });
    await session.append({ id: first?.id, role: "assistant", content: `new words ${secret} behind`, rev: 1 });
    assert.deepEqual(await all(store.search("old")), []);
    const [hit] = await all(store.search("words"));
    assert.deepEqual([hit?.id, leaked(hit?.text ?? ""), /\[redacted:anthropic:/.test(hit?.text ?? "")], [first?.id, [], true]);
    // Found by a part of what is taken out: that it is there, is told, and what stands around it is not.
    for (const { text } of await all(store.search(secret.slice(20, 40)))) assert.ok(!text.includes(secret.slice(20, 40)));
  }));

test("SESS-003 and SESS-004: what can be resumed is listed, and taken by its number, its id or words", () =>
  inFolder(async ({ opened, typed }) => {
    assert.match(typed("resume").stdout, /^no sessions here; 'leftoff new' begins one/);
    const [auth = "", design = "", keys = ""] = await three(await opened());
    for (const args of [["resume"], ["resume", "--list"], ["list"]]) {
      const lines = typed(...args).stdout.split("\n");
      assert.equal(lines[0], "1. [chat] API Keys");
      assert.match(lines[1] ?? "", new RegExp(`^ {3}Last active: just now \\| Status: paused \\| ID: ${keys}$`));
      assert.equal(lines[2], "   Summary: rotate them");
    }
    const resumed = (/** @type {string[]} */ ...args) => {
      const { status, stdout, stderr } = typed("resume", ...args, "--print", "--json");
      return status === 0 ? JSON.parse(stdout).id : [status, stderr];
    };
    assert.equal(resumed("3"), auth);
    assert.equal(resumed(design), design);
    assert.equal(resumed("api", "design"), design);
    assert.equal(resumed("graphql"), design);
    assert.equal(resumed("last"), keys);
    const flagged = (/** @type {string[]} */ ...args) => JSON.parse(typed(...args, "--print", "--json").stdout).id;
    assert.deepEqual([flagged("-c"), flagged("--continue"), flagged("-r", "3"), flagged("--resume", "graphql")], [keys, keys, auth, design]);
    const [several, candidates] = resumed("api");
    assert.deepEqual([several, candidates.includes(design), candidates.includes(keys), candidates.includes(auth)], [2, true, true, false]);
    const [none, nearest] = resumed("0190ffff");
    assert.deepEqual([none, nearest.includes("expected a session"), nearest.includes(keys)], [1, true, true]);
  }));

test("SESS-005: who resumes what was marked complete is warned, and may insist", () =>
  inFolder(async ({ opened, typed }) => {
    const store = await opened();
    const session = await store.create({ title: "Done" });
    await session.append({ role: "user", content: "finished" });
    await session.complete();
    const printed = typed("resume", "done", "--print");
    assert.deepEqual([printed.status, /marked complete/.test(printed.stderr)], [0, true]);
    const refused = typed("resume", "done", "--with", "codex");
    assert.deepEqual([refused.status, /\(completed\)/.test(refused.stderr), /--override/.test(refused.stderr)], [1, true, true]);
    assert.equal(typed("resume", "done", "--with", "codex", "--override").status, 0);
    await session.look();
    assert.equal(session.metadata.lifecycle, "completed");
    assert.equal(typed("resume", "done", "--print", "--override").status, 0);
    await session.look();
    assert.equal(session.metadata.lifecycle, "completed", "who looks changes nothing");
    assert.equal(typed("resume", "done", "--print", "--from", "claude-code", "--override").status, 0);
    await session.look();
    assert.equal(session.metadata.lifecycle, "active");
  }));

test("search is typed, too: titles, or what was said with the words in their place", () =>
  inFolder(async ({ opened, typed }) => {
    const [, design] = await three(await opened());
    assert.match(typed("search", "graphql").stdout, /^1\. \[chat\] API Design Discussion\n/);
    assert.match(typed("search", "nothing").stdout, /--full-text looks in what was said/);
    const { stdout } = typed("search", "--full-text", "about", "api", "design");
    assert.match(stdout, new RegExp(`^${design}  API Design Discussion\\n    user [0-9a-f-]+: »about« »API« »Design« Discussion\\n$`));
    const [hit] = JSON.parse(typed("search", "--full-text", "expiry", "--json").stdout);
    assert.deepEqual(hit.excerpt, [{ text: "about Auth Token ", isHit: false }, { text: "Expiry", isHit: true }, { text: " Issue", isHit: false }]);
    const wrong = typed("search");
    assert.deepEqual([wrong.status, wrong.stdout], [2, ""]);
    assert.match(typed("search", "--full-text", "about", "--limit", "1").stdout, /there is more/);
  }));
