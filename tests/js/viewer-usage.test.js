// @ts-check
// What the viewer says a session's calls took is what `store.usage` says of it.
// Tries: js/viewer/usage.js, js/viewer/format.js
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import { openStore } from "../../js/index.js";
import { formatCost } from "../../js/viewer/format.js";
import { costOfAnswer, sumByModel } from "../../js/viewer/usage.js";
import { inFolder } from "./git-tools.js";

const fixtures = fileURLToPath(new URL("../fixtures", import.meta.url));

test("the sums of each model are those of the store", () =>
  inFolder(async (folder) => {
    const store = await openStore({ home: join(folder, "store"), project: folder });
    for (const from of ["claude-code/real", "claude-code/ccsession-cli", "codex/real"])
      await store.import(join(fixtures, from));
    let calls = 0;
    for (const { id } of await store.list({ all: true, type: null })) {
      const messages = [];
      for await (const message of (await store.session(id)).messages({ allBranches: true })) messages.push(message);
      const { rows } = await store.usage({ by: ["model"], session: id, all: true });
      const found = sumByModel(messages).map(({ model, calls, sent, output, cost, unpriced }) => ({
        model,
        counts: [calls, sent, output, unpriced],
        cost: cost.toFixed(5),
      }));
      const expected = rows.map(({ model, calls, usage, cost = 0, unpriced }) => ({
        model,
        counts: [calls, usage.input + usage.cacheRead + usage.cacheWrite, usage.output, unpriced],
        cost: cost.toFixed(5),
      }));
      const byModel = (/** @type {{ model?: string }} */ one, /** @type {{ model?: string }} */ other) =>
        (one.model ?? "") < (other.model ?? "") ? -1 : 1;
      assert.deepEqual(found.sort(byModel), expected.sort(byModel), id);
      calls += found.reduce((sum, { counts }) => sum + (counts[0] ?? 0), 0);
    }
    assert.ok(calls > 20, `expected more calls than ${calls}`);
    await store.close();
  }));

test("an answer without counts or a listed model has no cost", () => {
  const answer = (/** @type {object} */ assistant) =>
    costOfAnswer(/** @type {any} */ ({ id: "1", role: "assistant", content: "", assistant }));
  assert.equal(answer({ model: "gpt-4o", usage: { input: 1000, output: 200 } }), 0.0045);
  assert.equal(answer({ model: "nobody-1", usage: { input: 1000 } }), undefined);
  assert.equal(answer({ model: "gpt-4o" }), undefined);
});

test("costs are written with two digits that say something", () => {
  const written = [0, 0.0000123, 0.0045, 0.0149, 0.181, 0.994, 0.999, 12.345].map(formatCost);
  assert.deepEqual(written, ["$0.00", "$0.000012", "$0.0045", "$0.015", "$0.18", "$0.99", "$1.00", "$12.35"]);
});
