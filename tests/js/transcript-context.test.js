// @ts-check
// A context of a transcript is the one that a session of its messages gives, though nothing is stored for it.
// Tries: js/session/transcript.js, src/operation/unstored_context.rs
import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import { LeftoffError, MemoryStorage, countTokens, readTranscript } from "../../js/index.js";
import { SessionHandle } from "../../js/session/handle.js";
import { appendCopies, sessionOf } from "../../js/session/session.js";

/** @import { Session } from "../../js/index.js" */
/** @import { ContextRequest, Transcript } from "../../js/index.js" */

const fixtures = fileURLToPath(new URL("../fixtures", import.meta.url));
/** Of each agent. */
const MOST = 12;

/** @returns {Promise<[name: string, transcript: Transcript][]>} */
async function transcripts() {
  /** @type {[string, Transcript][]} */
  const all = [];
  for (const agent of readdirSync(fixtures).filter((name) => !name.includes("."))) {
    const names = readdirSync(join(fixtures, agent), { recursive: true, encoding: "utf8" })
      .filter((name) => /\.jsonl?$/.test(name))
      .sort();
    for (const name of names.slice(0, MOST)) {
      try {
        all.push([join(agent, name), await readTranscript(join(fixtures, agent, name))]);
      } catch (error) {
        // Not each file is a transcript.
        if (!(error instanceof LeftoffError) || error.code === "internal") throw error;
      }
    }
  }
  return all;
}

/** The same by a session in memory. @param {Transcript} transcript @param {ContextRequest<any>} request */
async function inSession(transcript, request) {
  const { id, model } = transcript.session;
  const storage = new MemoryStorage();
  const live = new SessionHandle({
    storage,
    path: "/transcript",
    placement: "home",
    cache: { storage, folder: "/cache" },
  });
  await live.begin({ id, agent: model ? { model } : undefined });
  const session = sessionOf(live, {});
  try {
    if (transcript.length > 0) await appendCopies(session, transcript.slice());
    return await session.context({ ...request, frame: false });
  } finally {
    live.release();
  }
}

/** What came of it, also where it was refused. @param {Promise<unknown>} made */
const outcome = (made) => made.catch((error) => ({ code: error.code, message: error.message }));

const read = await transcripts();
/** What is read of the log costs nothing to those that are in memory, and is the same. @type {ContextRequest<any>[]} */
const REQUESTS = [
  {},
  { window: 2_000, encoding: "estimate-1" },
  { window: 8_000, encoding: "estimate-1", format: "openai-chat" },
  { window: 300, encoding: "estimate-1", format: "anthropic" },
  { window: 4_000, encoding: "o200k_base", format: "gemini", system: "Be brief." },
  { window: 3_000, encoding: "mine", count: (texts) => texts.map((text) => text.length) },
  { model: "no-such-model" },
  /** @type {object} */ ({ windo: 8_000 }),
];

test("a transcript's context is that of a session with its messages", async () => {
  assert.ok(new Set(read.map(([name]) => name.split("/")[0])).size >= 6);
  for (const [name, transcript] of read) {
    for (const request of REQUESTS)
      assert.deepEqual(
        await outcome(transcript.context(request)),
        await outcome(inSession(transcript, request)),
        `${name} ${JSON.stringify(request)}`,
      );
  }
});

test("so is one with a model's summary, and what the model is told", async () => {
  let asked = 0;
  for (const [name, transcript] of read) {
    /** @type {unknown[][]} */
    const told = [[], []];
    const request = (/** @type {number} */ which) => ({
      window: 500,
      encoding: "estimate-1",
      summarize: (/** @type {unknown} */ wanted) => (told[which]?.push(wanted), `In short, ${told[which]?.length}.`),
    });
    assert.deepEqual(
      await outcome(transcript.context(request(0))),
      await outcome(inSession(transcript, request(1))),
      name,
    );
    assert.deepEqual(told[0], told[1], name);
    asked += told[0]?.length ?? 0;
  }
  assert.ok(asked > read.length / 4, `expected models to be asked, but found ${asked} of ${read.length}`);
});

test("a strategy of the caller's is given a session with the messages", async () => {
  const [, transcript] = /** @type {[string, Transcript]} */ (read.find(([, { length }]) => length > 2));
  /** @type {string[]} */
  const seen = [];
  const build = async (/** @type {Session} */ session) => {
    for await (const { id } of session.messages()) seen.push(id);
    return { messages: transcript.slice(0, 1) };
  };
  await transcript.context({
    window: 300,
    encoding: "estimate-1",
    strategies: [{ name: "mine", priority: 0, build: /** @type {any} */ (build) }],
  });
  assert.deepEqual(
    seen,
    transcript.slice().map(({ id }) => id),
  );
});

test("what was counted exactly before changes nothing", async () => {
  const [name, transcript] = /** @type {[string, Transcript]} */ (read.find(([, { length }]) => length > 2));
  const before = await transcript.context({ window: 2_000 });
  await countTokens("hello");
  assert.deepEqual(await transcript.context({ window: 2_000 }), before, name);
});
