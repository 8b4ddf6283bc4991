// @ts-check
// The last context, built again: over random scripts and the transcripts that the project ships, whatever came since,
// it is what was given, or it says that it is not.
// Tries: src/operation/sent_context.rs
import assert from "node:assert/strict";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import fc from "fast-check";

import { LeftoffError, MemoryStorage, openStore } from "../../js/index.js";
import { LONG_SESSION, grow, transcripts } from "../../scripts/grow.mjs";
import { scripts } from "../conformance/scripting/random.mjs";
import { runScript } from "../conformance/scripting/run.mjs";

/** @import { Session } from "../../js/session/session.js" */
/** @import { Step } from "../conformance/scripting/run.mjs" */

const SCRIPTS = Math.max(1, Math.round(1000 * Number(process.env.LEFTOFF_SCALE ?? 0.02)));
const SEED = Number(process.env.LEFTOFF_SEED ?? Date.now() % 2 ** 31);
const ASKED = [
  { window: 500 },
  { window: 2000, encoding: "estimate-1" },
  { window: 8000, format: /** @type {const} */ ("anthropic"), system: "be brief" },
  { window: 8000, model: "gpt-4", tools: [{ name: "ls" }] },
  { window: 64_000, format: /** @type {const} */ ("openai-responses") },
];

/** A message of some length. @param {number} n */
const long = (n) => ({
  role: n % 2 ? "assistant" : "user",
  content: `number ${n} of them: ${"it is told at length. ".repeat(20)}`,
});

/**
 * What may happen to a session after a context was given.
 * @type {((session: Session, ids: string[]) => Promise<unknown>)[]}
 */
const SINCE = [
  (session) =>
    session.append([
      { role: "user", content: "what came later" },
      { role: "assistant", content: "so it did" },
    ]),
  (session, ids) => session.append({ id: ids.at(-1) ?? "", rev: 7, role: "assistant", content: "said otherwise" }),
  (session, ids) =>
    session.append({
      role: "user",
      content: "another way",
      branch: true,
      parentId: ids[Math.floor(ids.length / 2)] ?? null,
    }),
  (session, ids) => session.pin(ids[0] ?? ""),
  (session, ids) => session.unpin(ids[0] ?? ""),
  (session) => session.compact({ window: 4000, apply: true }),
  (session) => session.compact({ window: 4000, undo: true }),
  (session) => session.setAgent({ model: "qwen3", contextWindow: 1234 }),
  (session) => session.rename("called otherwise"),
  (session) => session.stop({ summary: "that was it" }),
];

/** @param {Uint8Array} bytes */
async function importSessions(bytes) {
  const storage = new MemoryStorage();
  await storage.append("/transcript.jsonl", bytes);
  const store = await openStore({ home: "/home", project: "/", storage });
  const { imported: all } = await store.import("/transcript.jsonl").catch((error) => {
    // Some of the files are of other agents, or hold no message.
    assert.ok(error instanceof LeftoffError && ["unknown_format", "empty_file"].includes(error.code), String(error));
    return { imported: [] };
  });
  return Promise.all(
    all.map(async ({ id }) => [
      await store.session(id),
      async () => (await openStore({ home: "/home", project: "/", storage })).session(id),
    ]),
  );
}

/** @param {Session} session @param {any} request */
async function contextOf(session, request) {
  return session.context(request).catch((error) => assert.ok(error.code === "budget_too_small", error));
}

test("a context that was given of a real session is given again, whatever came since, here and in another process", async () => {
  const all = [...transcripts().map((path) => readFileSync(path)), new TextEncoder().encode(grow(LONG_SESSION))];
  let turn = 0;
  let seen = 0;
  const strategies = new Set();
  for (const bytes of all) {
    for (const [session, again] of /** @type {any[]} */ (await importSessions(bytes))) {
      for (const request of ASKED) {
        const given = await contextOf(session, request);
        if (!given) continue;
        const ids = [];
        for await (const { id } of session.messages()) ids.push(id);
        for (const since of [0, 1, 2]) await SINCE[(turn * 3 + since) % SINCE.length]?.(session, ids);
        turn += 1;
        const sent = await (turn % 5 ? session : await again()).lastContext({ full: true });
        assert.deepEqual([sent.isVerified, sent.differences], [true, []], JSON.stringify(request));
        assert.deepEqual(sent.messages, given.messages);
        assert.deepEqual(
          { ...sent, at: "", isVerified: 0, differences: 0 },
          { ...given, at: "", isVerified: 0, differences: 0 },
        );
        strategies.add(given.strategy);
        seen += 1;
      }
    }
  }
  assert.ok(
    seen > 300 && ["full-history", "fallback", "recent-plus-summary"].every((one) => strategies.has(one)),
    `${seen}: ${[...strategies].join(" ")}`,
  );
});

test(`over scripts by chance it is what was given, or says that it is not: ${SCRIPTS} of the seed ${SEED}`, async () => {
  const counts = { verified: 0, refused: 0 };
  const work = async (/** @type {{ steps: Step[] }} */ script) => {
    const steps = script.steps.flatMap((step) =>
      step.session && !["create", "open"].includes(step.op)
        ? [step, { op: "lastContext", full: true, session: step.session, ifThere: true }]
        : [step],
    );
    const { whole } = await runScript({ steps }, { seed: "sent" });
    /** What was given last, of each session, by whatever name it was opened. @type {Map<string, any>} */
    const given = new Map();
    // Others may cut a log; nobody else takes anything away.
    const isTampered = steps.some(({ op }) => ["cutFile", "removeFile", "writeFile", "doctor", "delete"].includes(op));
    steps.forEach(({ op, session = "", summarize }, place) => {
      const answer = whole[place]?.requests ? whole[place].answer : whole[place];
      const context = op === "resume" ? answer?.context : op === "context" ? answer : undefined;
      if (context?.messages) given.set(session, { messages: context.messages, isTold: summarize !== undefined });
      if (op !== "lastContext" || answer?.isVerified === undefined || !given.has(session)) return;
      const { messages, isTold } = given.get(session);
      counts[answer.isVerified ? "verified" : "refused"] += 1;
      if (answer.isVerified) assert.deepEqual(answer.messages, messages);
      else assert.ok(answer.differences.length > 0 && (isTampered || isTold), JSON.stringify(answer.differences));
    });
  };
  const { failed, counterexample, errorInstance } = await fc.check(fc.asyncProperty(scripts, work), {
    seed: SEED,
    numRuns: SCRIPTS,
  });
  if (failed)
    assert.fail(
      `${errorInstance instanceof Error ? errorInstance.stack : errorInstance}\n${JSON.stringify(counterexample?.[0])}`,
    );
  assert.ok(counts.verified > 0, JSON.stringify(counts));
});

/**
 * A session of 40 messages on disk.
 * @param {(parts: { session: Session, folder: string, home: string, opened: (redact?: any) => Promise<Session> }) => Promise<void>} work
 */
async function onDisk(work) {
  const made = realpathSync(mkdtempSync(join(tmpdir(), "leftoff-sent-")));
  const [home, project] = [join(made, "home"), join(made, "project")];
  mkdirSync(project);
  /** @type {{ close(): Promise<void> }[]} */
  const stores = [];
  try {
    const store = await openStore({ home, project });
    stores.push(store);
    const session = await store.create();
    for (let n = 0; n < 40; n += 1) await session.append(long(n), { durability: "buffered" });
    const opened = async (/** @type {any} */ redact) => {
      const other = await openStore({ home, project, redact });
      stores.push(other);
      return other.session(session.id);
    };
    await work({ session, folder: session.path, home, opened });
  } finally {
    for (const store of stores) await store.close();
    rmSync(made, { recursive: true, force: true });
  }
}

/** @param {Session} session @param {string[]} codes @param {{ isShown?: boolean }} [options] */
async function expectUnverified(session, codes, { isShown = true } = {}) {
  const sent = await session.lastContext({ full: true });
  assert.deepEqual(
    [sent?.isVerified, sent?.differences.map(({ code }) => code), (sent?.messages ?? []).length > 0],
    [false, codes, isShown],
  );
}

test("what a caller did for it is gone with the caller, and so is said", () =>
  onDisk(async ({ session }) => {
    const build = async () => {
      const all = [];
      for await (const { id: _, parentId: __, ...message } of session.messages())
        all.push(/** @type {any} */ (message));
      return { messages: all.slice(-3), includedCount: 3, summarizedCount: 0 };
    };
    const { strategy } = await session.context({ window: 3000, strategies: [{ name: "mine", priority: 0, build }] });
    assert.equal(strategy, "mine");
    await expectUnverified(session, ["own_strategy"]);
    await session.context({
      window: 3000,
      encoding: "mine",
      count: (texts) => texts.map((text) => Math.ceil(text.length / 2)),
    });
    await expectUnverified(session, ["own_counter"]);
    // Where all of it fits whoever counts, it is the same.
    const { messages } = await session.context({
      window: 90_000,
      encoding: "mine",
      count: (texts) => texts.map((text) => text.length),
    });
    const sent = await session.lastContext({ full: true });
    assert.deepEqual([sent?.isVerified, sent?.messages], [true, messages]);
  }));

test("a model's summary stands in it as long as it is kept", () =>
  onDisk(async ({ session, folder }) => {
    const { messages } = await session.context({ window: 3000, summarize: () => "they talked of numbers" });
    assert.match(JSON.stringify(messages), /they talked of numbers/);
    await session.append(long(40));
    const sent = await session.lastContext({ full: true });
    assert.deepEqual([sent?.isVerified, sent?.messages], [true, messages]);
    rmSync(join(folder, "summaries"), { recursive: true });
    await expectUnverified(session, ["summary_gone"]);
  }));

test("a summary that came later does not stand in it", () =>
  onDisk(async ({ session, home }) => {
    const report = join(home, "cache", `${session.id}.report`);
    const { messages } = await session.context({ window: 3000 });
    await session.flush();
    const kept = readFileSync(report);
    await session.context({ window: 3000, summarize: () => "they talked of numbers" });
    await session.flush();
    writeFileSync(report, kept);
    const sent = await session.lastContext({ full: true });
    assert.deepEqual([sent?.isVerified, sent?.messages], [true, messages]);
  }));

test("a large text that is gone, a log that was cut or changed, and a report alone are told", () =>
  onDisk(async ({ session, folder, home }) => {
    const ends = async () => session.context({ window: 500_000 });
    await session.append({ role: "user", content: "so large ".repeat(40_000) });
    await ends();
    const [log, blobs] = [join(folder, "messages.jsonl"), join(folder, "blobs")];
    const blob = join(blobs, String(readdirSync(blobs)[0]));
    const [text, bytes] = [readFileSync(blob), readFileSync(log, "utf8")];
    rmSync(blob);
    await expectUnverified(session, ["blob_gone"]);
    writeFileSync(blob, text);
    writeFileSync(log, bytes.replace("number 7 of them", "number 9 of them"));
    await expectUnverified(session, ["context_changed"]);
    writeFileSync(log, bytes.slice(0, -100));
    await expectUnverified(session, ["log_shrunk"], { isShown: false });
    writeFileSync(log, bytes);
    assert.equal((await session.lastContext({ full: true }))?.isVerified, true);
    const report = join(home, "cache", `${session.id}.report`);
    writeFileSync(report, readFileSync(report, "utf8").split("\n")[0] ?? "");
    await expectUnverified(session, ["no_recipe"], { isShown: false });
    rmSync(report);
    assert.equal(await session.lastContext({ full: true }), undefined);
  }));

test("it leaves as the rules of today say, and is told where those were others", () =>
  onDisk(async ({ session, opened }) => {
    const secret = `ghp_${"a1B2c3D4e5".repeat(4).slice(0, 36)}`;
    await session.append({ role: "user", content: `the token is ${secret}` });
    const { messages } = await session.context({ window: 3000 });
    await session.flush();
    const strict = await opened("replace");
    await expectUnverified(strict, ["redaction_changed"]);
    assert.ok(!JSON.stringify(await strict.lastContext({ full: true })).includes(secret));
    const replaced = await strict.context({ window: 3000 });
    await strict.flush();
    assert.ok(!JSON.stringify(replaced.messages).includes(secret));
    await strict.append({ role: "user", content: "what came later" });
    const sent = await strict.lastContext({ full: true });
    assert.deepEqual([sent?.isVerified, sent?.messages], [true, replaced.messages]);
    await strict.flush();
    await expectUnverified(session, ["redaction_changed"]);
    assert.deepEqual((await session.lastContext({ full: true }))?.messages, messages);
  }));

test("nothing that was said is kept in the cache by it", () =>
  onDisk(async ({ session, home }) => {
    await session.append([
      {
        role: "assistant",
        content: "wordofanswer",
        assistant: { toolCalls: [{ id: "c", name: "ls", arguments: '{"path":"wordofcall"}' }] },
      },
      { role: "tool", content: "wordofresult", tool: { callId: "c", name: "ls" } },
      { role: "user", content: "wordofuser" },
    ]);
    const tools = [{ name: "ls", description: "wordoftools" }];
    const { messages } = await session.context({
      window: 3000,
      system: "wordofsystem",
      tools,
      summarize: () => "wordofsummary",
    });
    for (const word of ["wordofanswer", "wordofcall", "wordofresult", "wordofuser", "wordofsummary"])
      assert.ok(JSON.stringify(messages).includes(word), word);
    await session.flush();
    const report = readFileSync(join(home, "cache", `${session.id}.report`), "utf8");
    assert.doesNotMatch(report, /wordof|told at length/);
    assert.equal((await session.lastContext({ full: true }))?.isVerified, true);
    assert.ok(existsSync(join(session.path, "summaries")));
  }));

test("options of it that are not known are refused by name", () =>
  onDisk(async ({ session }) => {
    await assert.rejects(session.lastContext(/** @type {any} */ ({ ful: true })), {
      code: "invalid_request",
      message: /^unknown option "ful": expected full$/,
    });
    await assert.rejects(session.lastContext(/** @type {any} */ ({ full: 1 })), {
      code: "invalid_request",
      message: /true or false for "full"/,
    });
  }));
