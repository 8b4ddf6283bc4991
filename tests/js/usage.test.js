// @ts-check
// What model calls took is what an independent count over the same records finds: each call once, whatever revisions
// and forks have of it; by local day, agent, project, session and model; and over transcripts as agents wrote them.
// Tries: src/session/usage/, src/operation/store/usage.rs, src/tokens/prices.rs, js/cli/usage.js, js/wasm/clock.js
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";

import { openStore, pricesOf } from "../../js/index.js";
import { setClock } from "../../js/wasm/clock.js";
import { inFolder } from "./git-tools.js";
import { nodePath } from "./node-path.js";
import { entry } from "./terminal.js";

/** @import { UsageRow } from "../../js/types/index.js" */
/** @typedef {{ day: string, agent: string, model: string, project: string, session: string }} Keys */
/** @typedef {{ calls: number, input: number, output: number, cacheRead: number, cacheWrite: number }} Sums */

const fixtures = fileURLToPath(new URL("../fixtures", import.meta.url));

after(() => setClock());

/** @param {Iterable<[key: string, sums: Sums]>} counted */
function sumUp(counted) {
  /** @type {Map<string, Sums>} */
  const all = new Map();
  for (const [key, sums] of counted) {
    const known = all.get(key) ?? { calls: 0, input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
    for (const name of /** @type {(keyof Sums)[]} */ (Object.keys(known))) known[name] += sums[name];
    all.set(key, known);
  }
  return Object.fromEntries([...all].sort());
}

/** @param {UsageRow[]} rows @param {(row: UsageRow) => string} keyOf */
function sumsOf(rows, keyOf) {
  return sumUp(
    rows.map((row) => {
      const { input, output, cacheRead, cacheWrite } = row.usage;
      return [keyOf(row), { calls: row.calls, input, output, cacheRead, cacheWrite }];
    }),
  );
}

/** Numbers as a die gives them, the same each time. */
function* dice() {
  for (let seed = 7; ; seed = (seed * 48_271) % 2_147_483_647) yield seed;
}

test("sums are those of an independent count, by whatever is asked for", () =>
  inFolder(async (folder) => {
    const numbers = dice();
    const roll = (/** @type {number} */ sides) => /** @type {number} */ (numbers.next().value) % sides;
    const places = [join(folder, "one"), join(folder, "two")];
    /** @type {(Keys & Sums & { model: string })[]} */
    const calls = [];
    for (const project of places) {
      fs.mkdirSync(project);
      const store = await openStore({ home: join(folder, "store"), project });
      for (let nth = 0; nth < 3; nth += 1) {
        const session = await store.create({ title: `${nth}` });
        for (let at = 0; at < 30; at += 1) {
          const [agent, model] = [["codex", "mine"][roll(2)] ?? "", ["gpt-4o", "claude-sonnet-4-5"][roll(2)] ?? ""];
          const usage = { input: roll(5000), output: 1 + roll(900), cacheRead: roll(90_000), cacheWrite: roll(3000) };
          const day = `2026-0${1 + roll(9)}-1${roll(10)}`;
          const id = `${session.id}-${at}`;
          const message = (/** @type {object} */ more) => ({
            id,
            role: "assistant",
            content: `${at}`,
            timestamp: `${day}T12:00:00.${String(at).padStart(3, "0")}Z`,
            source: { agent, id: `r${at}` },
            ...more,
          });
          if (at % 5 === 0)
            await session.append(message({ assistant: { model, usage: { input: 1, output: 1 } }, partial: true }));
          await session.append(message({ assistant: { model, usage }, rev: at % 5 === 0 ? 1 : 0 }));
          calls.push({ day, agent, model, project, session: session.id, calls: 1, ...usage });
        }
        await store.fork(session);
      }
      await store.close();
    }
    const store = await openStore({ home: join(folder, "store"), project: places[0] });
    for (const by of /** @type {(keyof Keys)[][]} */ ([
      [],
      ["day"],
      ["model"],
      ["agent", "model"],
      ["project", "day"],
      ["session"],
      ["day", "session", "project", "agent", "model"],
    ]))
      for (const all of [true, false]) {
        const { rows, total } = await store.usage({ by, all });
        const counted = calls.filter(({ project }) => all || project === places[0]);
        const keyOf = (/** @type {any} */ one) => JSON.stringify(by.map((key) => one[key]?.id ?? one[key]));
        assert.deepEqual(sumsOf(rows, keyOf), sumUp(counted.map((call) => [keyOf(call), call])), `${by} ${all}`);
        assert.deepEqual(
          sumsOf([total], () => ""),
          sumUp(counted.map((call) => ["", call])),
        );
        const cost = counted.map(costOf).reduce((sum, one) => sum + one, 0);
        assert.ok(Math.abs((total.cost ?? 0) - cost) < 1e-5, `expected ${cost}, but found ${total.cost} instead`);
      }
    await store.close();
  }));

/** @param {Sums & { model: string }} call */
function costOf({ model, input, output, cacheRead, cacheWrite }) {
  const rates = pricesOf(model)?.rates ?? assert.fail(`expected prices of ${model}`);
  const { output: answered = 0, cacheRead: read = rates.input, cacheWrite: written = rates.input } = rates;
  return (input * rates.input + output * answered + cacheRead * read + cacheWrite * written) / 1e6;
}

test("a day is local, in summer as in winter", () =>
  inFolder(async (folder) => {
    const spring = Date.parse("2026-03-29T01:00:00Z");
    const now = Date.parse("2026-07-01T12:00:00Z");
    const entropy = () => crypto.getRandomValues(new Uint8Array(32));
    const offsetMinutes = (/** @type {number} */ ms) => (ms < spring ? 60 : 120);
    setClock({ now: () => now, ticks: () => 0, offsetMinutes, entropy });
    const store = await openStore({ home: join(folder, "store"), project: folder });
    const session = await store.create();
    const days = {
      "2026-02-01T22:59:59.999Z": "2026-02-01",
      "2026-02-01T23:00:00.000Z": "2026-02-02",
      "2026-06-01T21:59:59.999Z": "2026-06-01",
      "2026-06-01T22:00:00.000Z": "2026-06-02",
      "2026-03-29T21:59:59.999Z": "2026-03-29",
    };
    for (const timestamp of Object.keys(days))
      await session.append({
        role: "assistant",
        content: "",
        timestamp,
        assistant: { usage: { input: Date.parse(timestamp) } },
      });
    const { rows } = await store.usage({ by: ["day"] });
    const counts = sumUp(
      Object.entries(days).map(([timestamp, day]) => [
        day,
        { calls: 1, input: Date.parse(timestamp), output: 0, cacheRead: 0, cacheWrite: 0 },
      ]),
    );
    assert.deepEqual(
      sumsOf(rows, ({ day = "" }) => day),
      counts,
    );
    await store.close();
    setClock();
  }));

/** The files of an agent with what a call took, as their clients wrote them. @param {string} agent */
function transcripts(agent) {
  const folder = join(fixtures, agent);
  const files = fs.readdirSync(folder, { recursive: true, encoding: "utf8" });
  return files.filter((file) => file.endsWith(".jsonl")).map((file) => join(folder, file));
}

/** @param {string} file @returns {any[]} */
function recordsOf(file) {
  return fs
    .readFileSync(file, "utf8")
    .split("\n")
    .flatMap((line) => {
      try {
        return [JSON.parse(line)];
      } catch {
        return [];
      }
    });
}

/** The calls of Claude Code's records: each answer is told once, in several records. @param {string[]} files */
function claudeCalls(files) {
  const answers = new Map();
  for (const file of files)
    for (const { type, message } of recordsOf(file))
      if (type === "assistant" && message?.usage) answers.set(`${file} ${message.id}`, message);
  return [...answers.values()].map(({ model, usage }) => ({
    model,
    input: usage.input_tokens ?? 0,
    output: usage.output_tokens ?? 0,
    cacheRead: usage.cache_read_input_tokens ?? 0,
    cacheWrite: usage.cache_creation_input_tokens ?? 0,
  }));
}

test("over Claude Code's own transcripts, sums are those of their records", () =>
  inFolder(async (folder) => {
    const store = await openStore({ home: join(folder, "store"), project: folder });
    // The others are single records that stand for a kind each.
    const files = transcripts("claude-code").filter((file) => /real|projects|small/.test(file));
    for (const file of files) await store.import(file);
    const { rows } = await store.usage({ by: ["model"], all: true });
    const counted = claudeCalls(files).filter(
      ({ input, output, cacheRead, cacheWrite }) => input + output + cacheRead + cacheWrite > 0,
    );
    assert.ok(counted.length > 20, `expected more calls than ${counted.length}`);
    assert.deepEqual(
      sumsOf(rows, ({ model = "" }) => model),
      sumUp(counted.map(({ model, ...sums }) => [model, { calls: 1, ...sums }])),
    );
    await store.close();
  }));

test("the command prints a table for people, columns for pipes, and says what has no price", () =>
  inFolder(async (folder) => {
    const home = join(folder, "store");
    const store = await openStore({ home, project: folder });
    const session = await store.create({ title: "Croniter" });
    const said = (/** @type {string} */ model, /** @type {object} */ usage) =>
      session.append({
        role: "assistant",
        content: "",
        timestamp: "2026-02-03T12:00:00.000Z",
        assistant: { model, usage },
      });
    await said("gpt-4o", { input: 1000, output: 200 });
    await said("nobody-1", { input: 7 });
    await store.close();
    const run = (/** @type {string[]} */ ...args) =>
      spawnSync(nodePath, [entry, "usage", "--home", home, ...args], { cwd: folder, encoding: "utf8" });
    const piped = run("--by", "model,day");
    assert.equal(
      piped.stdout,
      "2026-02-03\tgpt-4o\t1\t1000\t200\t0\t0\t0\t0.0045\n2026-02-03\tnobody-1\t1\t7\t0\t0\t0\t0\t\n",
    );
    assert.match(piped.stderr, /1 of 2 calls have none: nobody-1/);
    const { rows, total, unpriced } = JSON.parse(run("--by", "session", "--json").stdout);
    assert.deepEqual([rows[0].session.title, rows.length, total.calls, unpriced], ["Croniter", 1, 2, ["nobody-1"]]);
    const wrong = run("--by", "week");
    assert.equal(wrong.status, 2);
    assert.match(wrong.stderr, /--by takes day, session, project, agent or model.*"week"/);
    assert.match(run("--agent", "codex").stderr, /no calls with counts in this project; --all counts all/);
  }));
