// @ts-check
// Sessions are found by what they are called, and by what was said in them; as a person types it, too.
// Tries: js/store/search.js, src/resume/session_match.rs, src/operation/store/recall/, src/recall/
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import { LeftoffError, MemoryStorage, openStore } from "../../js/index.js";
import { nodePath } from "./node-path.js";
import { POSIX } from "./storage-tools.js";
import { ALL, PLANTED, leakedSecrets } from "./planted-secrets.js";

/** @typedef {import("../../js/store/store.js").Store} Store */

const entry = fileURLToPath(new URL("../../pkg/cli.js", import.meta.url));

/**
 * @param {(places: { folder: string, opened: (redact?: any) => Promise<Store>, typed: (...args: string[]) => ReturnType<typeof spawnSync> & { stdout: string, stderr: string } }) => Promise<void>} work
 */
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
  const typed = (/** @type {string[]} */ ...args) =>
    /** @type {any} */ (spawnSync(nodePath, [entry, ...args, "--workspace", folder], { env, encoding: "utf8" }));
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
  for (const [title, summary] of [
    ["Auth Token Expiry Issue", "race condition in token refresh"],
    ["API Design Discussion", "REST vs GraphQL"],
    ["API Keys", "rotate them"],
  ]) {
    const session = await store.create({ title });
    await session.append({ role: "user", content: `about ${title}` });
    await session.stop({ summary });
    ids.push(session.id);
  }
  return ids;
}

/** @param {AsyncIterable<import("../../js/types/index.js").Found>} hits */
async function collectHits(hits) {
  const found = [];
  for await (const { session, id, excerpt } of hits)
    found.push({
      session: session.id,
      id,
      text: excerpt.map(({ text }) => text).join(""),
      words: excerpt.filter(({ isHit }) => isHit).map(({ text }) => text),
    });
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

test("what is in quotes is found in every message that has it, across what is read at once, and in blobs", () =>
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
    // What is in quotes is required; the other words rank.
    const hits = await collectHits(store.search('"needle" haystack'));
    assert.deepEqual(
      hits.map(({ id }) => id),
      expected.slice(0, 3),
    );
    for (const { words } of hits) assert.deepEqual(words, ["NEEDLE", "haystack"]);
    const ranked = await collectHits(session.search('"needle" haystack', { limit: 100 }));
    assert.deepEqual([ranked.length, ranked.slice(0, expected.length).map(({ id }) => id)], [40, expected]);
    assert.equal((await collectHits(store.search('"needle"'))).length, 40);
    assert.equal((await collectHits(store.search('"needle in a"'))).length, expected.length);
    assert.deepEqual(await collectHits(store.search('"needle a in"')), []);
    assert.deepEqual(await collectHits(store.search("")), []);
  }));

test("a regular expression is looked for in all that was said, in a session and in all, and one that is none is refused", () =>
  inFolder(async ({ opened, typed }) => {
    const store = await opened();
    const session = await store.create({ title: "Releases" });
    const said = [
      "we ship v1.20.3 today",
      "Straße 12",
      `${"lorem ".repeat(40_000)} exit code 137 ${"ipsum ".repeat(40_000)}`,
      "nothing",
    ];
    const { records } = await session.append(said.map((content) => ({ role: /** @type {const} */ ("user"), content })));
    const ids = records.map(({ id }) => id);
    const other = await store.create({ title: "Others" });
    await other.append({ role: "user", content: "v2.0.0 is broken, v2.0.1 is not" });
    const found = async (/** @type {string} */ question, options = {}) =>
      collectHits(store.search(question, { regex: true, ...options }));
    assert.deepEqual(
      (await found("v\\d+\\.\\d+\\.\\d+")).map(({ id, words }) => [id === ids[0], words]),
      [
        [false, ["v2.0.0", "v2.0.1"]],
        [true, ["v1.20.3"]],
      ],
    );
    assert.deepEqual(
      (await found("exit code [1-9]\\d*")).map(({ id, words }) => [id, words]),
      [[ids[2], ["exit code 137"]]],
    );
    assert.deepEqual(
      (await found("(?i)STRASSE|STRAßE \\d+$")).map(({ id }) => id),
      [ids[1]],
    );
    assert.deepEqual(await found("^today"), []);
    assert.equal((await found("x*")).length, 5);
    const own = [];
    for await (const hit of session.search("v[0-9]", { regex: true })) own.push(hit.id);
    assert.deepEqual(own, [ids[0]]);
    await assert.rejects(found("v(\\d+"), {
      code: "invalid_request",
      message: 'expected a regular expression, but found "v(\\\\d+": unclosed group',
    });
    const { status, stdout } = typed("search", "--regex", "v1\\.\\d+");
    assert.equal(status, 0);
    assert.match(stdout, /\texact\t.*\twe ship v1\.20\.3 today\n/);
    const bad = typed("search", "--regex", "[");
    assert.equal(bad.status, 1);
    assert.match(bad.stderr, /expected a regular expression, but found "\["/);
  }));

test("no secret that is found is in the index of a store that looks for them, by the rules that redact", () =>
  inFolder(async ({ folder, opened }) => {
    const cache = join(folder, ".leftoff", "cache", "recall");
    const indexed = () =>
      readdirSync(cache)
        .map((name) => readFileSync(join(cache, name), "latin1").toLowerCase())
        .join("");
    // The index has words, and parts of them: of each secret the longest run of letters and digits.
    const runs = (/** @type {string} */ secret) =>
      (secret.match(/[A-Za-z0-9]{8,}/g) ?? []).sort((one, other) => other.length - one.length);
    const parts = ALL.flatMap(({ secret }) => runs(secret).slice(0, 1)).map((part) => part.slice(0, 40).toLowerCase());
    const open = await opened("off");
    const session = await open.create({ title: "Keys" });
    for (const { text } of ALL)
      await session.append({ role: "user", content: `a walnut ${text} ${"lorem ".repeat(3000)}` });
    const found = async (/** @type {Store} */ store) =>
      assert.ok((await collectHits(store.search("walnut"))).length > 0);
    await found(open);
    const before = indexed();
    assert.ok(parts.some((part) => before.includes(part)));
    const store = await opened("report");
    await found(store);
    const after = indexed();
    assert.deepEqual(
      parts.filter((part) => after.includes(part)),
      [],
    );
    assert.ok(after.includes("walnut"));
  }));

test("a question is answered by the session that is about it, whatever the forms of its words", () =>
  inFolder(async ({ opened }) => {
    const store = await opened();
    /** @type {Record<string, string>} */
    const ids = {};
    for (const [name, ...said] of [
      ["camping", "We went camping by the lake.", "The children loved it."],
      [
        "parser",
        "parseConfig fails on empty files",
        "It panics in src/config/parse.rs: E0308, so I returned a default.",
      ],
      ["else", "What is for dinner?", "Soup and bread."],
    ]) {
      const session = await store.create({ title: `Number ${name}` });
      await session.append(said.map((content, place) => ({ role: place % 2 ? "assistant" : "user", content })));
      ids[session.id] = /** @type {string} */ (name);
    }
    const first = async (/** @type {string} */ question) => {
      for await (const { session, id, found, words, excerpt } of store.search(question))
        return [
          ids[session.id],
          Boolean(id),
          found,
          words.join(" "),
          excerpt.filter(({ isHit }) => isHit).map(({ text }) => text),
        ];
      return undefined;
    };
    assert.deepEqual(await first("where did they camp?"), ["camping", true, "all", "camp", ["camping"]]);
    assert.deepEqual(await first("parse config"), ["parser", true, "all", "parse config", ["parseConfig"]]);
    assert.deepEqual(await first("error E0308 in parser"), ["parser", true, "some", "E0308", ["E0308"]]);
    assert.deepEqual(await first("pars"), ["parser", true, "prefix", "pars", ["parseConfig"]]);
    assert.deepEqual(await first("dinnre"), ["else", true, "spelling", "dinnre", ["dinner"]]);
    assert.deepEqual(await first("number else"), ["else", false, "title", "number else", ["Number", "else"]]);
    assert.equal(await first("nobody"), undefined);
  }));

test("a word that nobody said is found as the one spelled alike, wherever its wrong letter stands, and the answer names that one", () =>
  inFolder(async ({ opened }) => {
    const store = await opened();
    const session = await store.create();
    await session.append([
      { role: "user", content: "The cache grows. Use Redis, and measure twice." },
      { role: "assistant", content: "The queries hit postgres again." },
    ]);
    const instead = async (/** @type {string} */ question) => {
      const hits = [];
      for await (const { found, instead = [] } of store.search(question))
        hits.push(...instead.map((one) => [found, one.word, one.found]));
      return hits;
    };
    for (const typed of ["cahce", "acche", "cachee", "cadhe", "ccache", "Cahce"]) {
      assert.deepEqual((await instead(typed))[0], ["spelling", typed, "cache"], typed);
    }
    for (const [typed, meant] of [
      ["redsi", "Redis"],
      ["erdis", "Redis"],
      ["edisr", undefined],
      ["mesaure", "measure"],
      ["qeries", "queries"],
      ["postgers", "postgres"],
    ]) {
      assert.deepEqual((await instead(String(typed)))[0]?.[2], meant, String(typed));
    }
    // What was said is found as it is, and a short word means itself.
    assert.deepEqual(await instead("cache"), []);
    assert.deepEqual(await instead("ues"), []);
  }));

test("no answer is stale: what was appended, edited and deleted just now counts", () =>
  inFolder(async ({ opened, folder }) => {
    const store = await opened();
    const other = await opened();
    const session = await store.create();
    const ids = async (/** @type {string} */ words) =>
      (await collectHits(other.search(words))).filter(({ words }) => words.length > 0).map(({ id }) => id);
    // Enough for a file of the index.
    await session.append({ role: "user", content: `walnut ${"lorem ".repeat(12_000)} first` });
    assert.equal((await ids("walnut")).length, 1);
    const runs = () => readdirSync(join(folder, ".leftoff/cache/recall"));
    assert.equal(runs().length, 1);
    if (!POSIX) assert.equal(statSync(join(folder, ".leftoff/cache/recall", runs()[0] ?? "")).mode & 0o777, 0o600);
    await session.append({ role: "assistant", content: "quartz" });
    assert.equal((await ids("quartz")).length, 1);
    // As editors do: another file in its place, of the same length, and more is said before anybody searches.
    const log = join(session.path, "messages.jsonl");
    writeFileSync(`${log}.new`, readFileSync(log, "utf8").replace("walnut", "zephyr"));
    renameSync(`${log}.new`, log);
    await session.append({ role: "user", content: "falcon" });
    assert.deepEqual(
      [(await ids("walnut")).length, (await ids("zephyr")).length, (await ids("falcon")).length],
      [0, 1, 1],
    );
    const has = (/** @type {string} */ word) =>
      runs().some((run) => readFileSync(join(folder, ".leftoff/cache/recall", run)).includes(word));
    assert.deepEqual([has("walnut"), has("zephyr")], [false, true]);
    rmSync(join(folder, ".leftoff/cache/recall"), { recursive: true });
    assert.equal((await ids("zephyr")).length, 1);
    await store.delete(session, { purge: true });
    assert.deepEqual(
      [await ids("zephyr"), existsSync(join(folder, ".leftoff/cache/recall")) && has("zephyr")],
      [[], false],
    );
  }));

/** @type {[string, (place: string, elsewhere: string) => void, string][]} */
const IN_ITS_PLACE = [
  ["a file", (place) => writeFileSync(place, "a note"), "not_a_folder"],
  ["a link", (place, elsewhere) => symlinkSync(elsewhere, place, "junction"), "outside_store"],
];

for (const [what, put, code] of IN_ITS_PLACE)
  test(`${what} in the place of the index, or of all that is kept, costs no answer and no session, and is told`, () =>
    inFolder(async ({ folder, opened }) => {
      const cache = join(folder, ".leftoff/cache");
      const elsewhere = join(folder, "elsewhere");
      mkdirSync(elsewhere);
      const session = await (await opened()).create();
      await session.append({ role: "user", content: `walnut ${"lorem ".repeat(12_000)} first` });
      await session.close();
      for (const place of [join(cache, "recall"), cache]) {
        rmSync(place, { recursive: true, force: true });
        put(place, elsewhere);
        const [name, before] = [basename(place), lstatSync(place)];
        const store = await opened();
        assert.equal((await collectHits(store.search("walnut"))).length, 1);
        assert.match((await store.recall("walnut?"))?.text ?? "", /lorem/);
        const again = await store.session(session.id);
        await again.append({ role: "assistant", content: "quartz" });
        assert.ok((await again.context({ window: 8_000 })).messages.length > 0);
        await again.lastContext();
        await again.close();
        const here = await store.move(await store.move(again, { to: "workspace" }), { to: "home" });
        assert.equal(here.id, session.id);
        for (const fix of [false, true]) {
          const reports = await store.doctor({ fix });
          assert.deepEqual(
            reports.filter(({ id }) => id !== "store").map(({ health }) => health),
            ["ok"],
          );
          const problems = reports.filter(({ id }) => id === "store").flatMap(({ problems }) => problems);
          assert.deepEqual(
            problems.map(({ code, file }) => ({ code, file })).filter(({ file }) => file === name),
            [{ code, file: name }],
          );
        }
        assert.deepEqual(
          [lstatSync(place).ino, lstatSync(place).size, readdirSync(elsewhere)],
          [before.ino, before.size, []],
        );
        rmSync(place);
      }
    }));

test("a store that can only be read answers as it did, also where its index is of a log that is another one now", async () => {
  let isReadOnly = false;
  class Kept extends MemoryStorage {
    /** @param {string} verb @param {string} path */
    #check(verb, path) {
      if (isReadOnly)
        throw new LeftoffError({
          code: "read_only",
          message: `could not ${verb} "${path}": the filesystem is read-only`,
        });
    }
    /** @type {MemoryStorage["append"]} */
    async append(path, bytes, how) {
      this.#check("append to", path);
      return super.append(path, bytes, how);
    }
    /** @type {MemoryStorage["replace"]} */
    async replace(path, bytes, how) {
      this.#check("replace", path);
      return super.replace(path, bytes, how);
    }
    /** @type {MemoryStorage["move"]} */
    async move(from, to) {
      this.#check("move", from);
      return super.move(from, to);
    }
    /** @type {MemoryStorage["remove"]} */
    async remove(path) {
      this.#check("remove", path);
      return super.remove(path);
    }
    // Two stores have it, one after the other.
    async close() {}
  }
  const storage = new Kept();
  const used = async () => {
    const store = await openStore({ home: "/home", project: "/", storage, countTokens: false });
    const session = (await store.current()) ?? (await store.create({ title: "Tickets" }));
    return { store, session };
  };
  const first = await used();
  await first.session.append(
    Array.from({ length: 400 }, (_, n) => ({
      role: /** @type {"user"} */ (n % 2 ? "assistant" : "user"),
      content: `Ticket T${n} was about case ${n * 7}. ${"It took a while. ".repeat(20)}`,
    })),
  );
  const answers = async (/** @type {Awaited<ReturnType<typeof used>>} */ { store, session }) => {
    const found = await collectHits(store.search("ticket T7"));
    const { messages } = await session.context({ window: 2000, reserve: 0 });
    return { found, messages, recalled: (await store.recall("what was ticket T7 about?")).text };
  };
  await first.session.append({ role: "user", content: "What was ticket T7 about?" });
  const before = await answers(first);
  assert.ok(before.found.length > 0 && before.recalled);
  assert.ok((await storage.list("/home/cache/recall"))?.some(({ name }) => name.endsWith(".run")));
  const log = `${first.session.path}/messages.jsonl`;
  await first.store.close();
  // A copy that was restored is another file, with other times.
  await storage.replace(log, /** @type {Uint8Array} */ (await storage.read(log)));
  isReadOnly = true;
  const again = await used();
  assert.deepEqual(await answers(again), before);
  await again.store.close();
});

test("a search is narrowed by who said it, when and where", () =>
  inFolder(async ({ opened }) => {
    const store = await opened();
    const session = await store.create();
    const said = (/** @type {string} */ role, /** @type {string} */ day) => ({
      role: /** @type {"user"} */ (role),
      content: `walnut of ${role}`,
      timestamp: `2026-05-${day}T12:00:00Z`,
    });
    await session.append([said("user", "01"), said("assistant", "02"), said("user", "03")]);
    const days = async (/** @type {object} */ options) => {
      const found = [];
      for await (const { timestamp } of store.search("walnut", options)) found.push(timestamp?.slice(8, 10));
      return found.sort();
    };
    assert.deepEqual(await days({}), ["01", "02", "03"]);
    assert.deepEqual(await days({ role: "assistant" }), ["02"]);
    assert.deepEqual(await days({ since: new Date("2026-05-02T00:00:00Z") }), ["02", "03"]);
    assert.deepEqual(await days({ until: new Date("2026-05-02T12:00:00Z") }), ["01", "02"]);
    assert.deepEqual(await days({ agent: "codex" }), []);
    await assert.rejects(days({ role: "nobody" }), { code: "invalid_request" });
  }));

test("a message that was written again is found by its newest words, and a cut secret does not get out", () =>
  inFolder(async ({ opened }) => {
    const store = await opened("replace");
    const session = await store.create();
    const [{ secret } = { secret: "" }] = PLANTED.anthropic ?? [];
    const {
      records: [first],
    } = await session.append({ role: "assistant", content: "old words", partial: true });
    await session.append({ id: first?.id, role: "assistant", content: `new words ${secret} behind`, rev: 1 });
    assert.deepEqual(await collectHits(store.search("old")), []);
    const [hit] = await collectHits(store.search("words"));
    assert.deepEqual(
      [hit?.id, leakedSecrets(hit?.text ?? ""), /\[redacted:anthropic:/.test(hit?.text ?? "")],
      [first?.id, [], true],
    );
    // Found by a part of what is taken out: that it is there, is told, and what stands around it is not.
    for (const { text } of await collectHits(store.search(secret.slice(20, 40))))
      assert.ok(!text.includes(secret.slice(20, 40)));
  }));

test("SESS-003 and SESS-004: what can be resumed is listed, and taken by its number, its id or words", () =>
  inFolder(async ({ opened, typed }) => {
    assert.match(typed("resume").stdout, /^no sessions here; 'leftoff new' starts one/);
    const [auth = "", design = "", keys = ""] = await three(await opened());
    for (const args of [["resume"], ["resume", "--list"]]) {
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
    // Nobody called it so; one message says it.
    assert.equal(resumed("about expiry"), auth);
    assert.equal(resumed("talking of cooking")[0], 1);
    const flagged = (/** @type {string[]} */ ...args) => JSON.parse(typed(...args, "--print", "--json").stdout).id;
    assert.deepEqual(
      [flagged("-c"), flagged("--continue"), flagged("-r", "3"), flagged("--resume", "graphql")],
      [keys, keys, auth, design],
    );
    const [several, candidates] = resumed("api");
    assert.deepEqual(
      [several, candidates.includes(design), candidates.includes(keys), candidates.includes(auth)],
      [2, true, true, false],
    );
    const [none, nearest] = resumed("0190ffff");
    assert.deepEqual([none, nearest.includes("no session"), nearest.includes(keys)], [1, true, true]);
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
    assert.deepEqual(
      [refused.status, /\(completed\)/.test(refused.stderr), /--override/.test(refused.stderr)],
      [1, true, true],
    );
    assert.equal(typed("resume", "done", "--with", "codex", "--override").status, 0);
    await session.refresh();
    assert.equal(session.metadata.lifecycle, "completed");
    assert.equal(typed("resume", "done", "--print", "--override").status, 0);
    await session.refresh();
    assert.equal(session.metadata.lifecycle, "completed", "who looks changes nothing");
    assert.equal(typed("resume", "done", "--print", "--from", "claude-code", "--override").status, 0);
    await session.refresh();
    assert.equal(session.metadata.lifecycle, "active");
  }));

test("search is typed, too: one list, with what was said, and its numbers count", () =>
  inFolder(async ({ opened, typed }) => {
    const [, design] = await three(await opened());
    const { stdout } = typed("search", "api", "graphql");
    assert.match(
      stdout.split("\n")[0] ?? "",
      new RegExp(
        `^${design}\t.*\t1\tuser\t20[^\t]*\tsome\tapi\tgraphql\tAPI Design Discussion\tabout API Design Discussion$`,
      ),
    );
    assert.equal(JSON.parse(typed("resume", "1", "--print", "--json").stdout).id, design);
    assert.equal(
      typed("search", "nothing").stderr,
      'leftoff: "nothing" was found nowhere in this project; --all searches all projects\n',
    );
    const [hit] = JSON.parse(typed("search", "expiry", "--json").stdout);
    assert.deepEqual([hit.title, hit.found, hit.words], ["Auth Token Expiry Issue", "all", ["expiry"]]);
    assert.deepEqual(hit.excerpt, [
      { text: "about Auth Token ", isHit: false },
      { text: "Expiry", isHit: true },
      { text: " Issue", isHit: false },
    ]);
    const wrong = typed("search");
    assert.deepEqual([wrong.status, wrong.stdout], [2, ""]);
    assert.match(typed("search", "api", "--limit", "1").stderr, /more sessions match; --limit N shows N/);
  }));
