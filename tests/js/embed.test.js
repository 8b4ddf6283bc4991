// @ts-check
/** Vectors of the caller's, by which what answers a question is ordered, too. */
// Tries: src/operation/vectors.rs, src/recall/meaning.rs

import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import { openStore } from "../../js/index.js";
import { PLANTED } from "./planted-secrets.js";

const QUESTION = "why did we pin croniter in the parser?";
const REQUEST = { window: 2400, reserve: 400, encoding: "estimate-1", frame: false };
const [{ text: HIDDEN, secret: SECRET } = { text: "", secret: "" }] = PLANTED["npm"] ?? [];

/** @param {number} n */
const messageText = (n) =>
  `Message ${n}: the parser reads token ${n} of the grammar, ${n % 3 ? "and other things that are long enough to fill a window" : `croniter is pinned, see case ${n}`}.`;

/**
 * A session with a question that many messages answer.
 * @param {import("../../js/index.js").StoreOptions} options
 * @param {(store: import("../../js/index.js").Store, session: import("../../js/index.js").Session) => Promise<void>}
 *   work
 * @param {string} [more] said in each message
 */
async function withQuestion(options, work, more = "") {
  const folder = mkdtempSync(join(tmpdir(), "leftoff-embed-"));
  const store = await openStore({ home: join(folder, "home"), project: folder, ...options });
  try {
    const session = await store.create();
    const drafts = Array.from({ length: 300 }, (_, n) => ({
      role: n % 2 ? "assistant" : "user",
      content: messageText(n) + more,
    }));
    await session.append([...drafts, { role: "user", content: QUESTION }]);
    await work(store, session);
  } finally {
    await store.close();
    rmSync(folder, { recursive: true });
  }
}

/** The farther behind a text stands, the nearer it is. @param {string[]} texts */
const backward = (texts) => texts.map((_, place) => [1, place === 0 ? 0 : 1 / place]);

test("a context asks once for each question, of 64 texts at most beside it, and takes any array of numbers", () =>
  withQuestion({}, async (_, session) => {
    /** @type {string[][]} */
    const calls = [];
    const embed = (/** @type {string[]} */ texts) => {
      calls.push(texts);
      return backward(texts).map((vector) => Float64Array.from(vector));
    };
    const plain = await session.context(REQUEST);
    const first = await session.context({ ...REQUEST, embed });
    const again = await session.context({ ...REQUEST, embed });
    assert.equal(calls.length, 1);
    assert.deepEqual([calls[0]?.[0], calls[0]?.length], [QUESTION, 65]);
    const ids = (/** @type {typeof plain} */ { report }) => report.recall?.messages.map(({ id }) => id);
    assert.notDeepEqual(ids(first), ids(plain));
    assert.deepEqual(ids(again), ids(first));
    assert.deepEqual(ids(await session.context(REQUEST)), ids(plain));
  }));

test("where vectors fail, or are none, the order by words stays, and it is said why", () =>
  withQuestion({}, async (store, session) => {
    const { messages } = await session.context(REQUEST);
    /** @type {[import("../../js/index.js").Embed, RegExp][]} */
    const failing = [
      [() => Promise.reject(new Error("no model is loaded")), /^"embed" failed: no model is loaded$/],
      [() => [[1]], /^expected 65 vectors of one length, but found 1 instead$/],
      [(texts) => texts.map(() => [Number.NaN]), /but found what is no number instead$/],
      [() => /** @type {any} */ (undefined), /but found 0 instead$/],
      [(texts) => texts.map(() => /** @type {any} */ ([1n])), /^"embed" failed: .*BigInt/],
      [(texts) => texts.map(() => /** @type {any} */ (null)), /but found 0 and 0 numbers instead$/],
      [
        (texts) => texts.map(() => /** @type {any} */ ({ length: 1e9 })),
        /^"embed" failed: expected at most 65536 numbers in a vector, but found 1000000000$/,
      ],
    ];
    for (const [embed, why] of failing) {
      const context = await session.context({ ...REQUEST, embed });
      assert.match(context.embedRefused ?? "", why);
      assert.deepEqual(context.messages, messages);
      const { text, embedRefused } = await store.recall(QUESTION, { embed });
      assert.ok(text);
      assert.match(embedRefused ?? "", /no model is loaded|but found|BigInt/);
      await assert.rejects(store.search(QUESTION, { embed }).next(), { code: "invalid_request" });
      await assert.rejects(session.search(QUESTION, { embed }).next(), { code: "invalid_request" });
    }
    const thrown = new Error("no model is loaded");
    await assert.rejects(store.search(QUESTION, { embed: () => Promise.reject(thrown) }).next(), { cause: thrown });
  }));

test("what is embedded is as it may leave", () =>
  withQuestion(
    { redact: "replace" },
    async (store, session) => {
      /** @type {string[]} */
      const texts = [];
      const embed = (/** @type {string[]} */ all) => {
        texts.push(...all);
        return backward(all);
      };
      await session.context({ ...REQUEST, embed });
      await store.recall(QUESTION, { embed });
      for await (const _ of store.search(QUESTION, { embed })) continue;
      assert.ok(texts.length > 60 && texts.some((text) => text.includes("[redacted:npm:")), texts[1] ?? "");
      assert.deepEqual(
        texts.filter((text) => text.includes(SECRET)),
        [],
      );
    },
    ` The token is ${HIDDEN}.`,
  ));
