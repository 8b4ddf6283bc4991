// @ts-check
// The scripts of tests/conformance/scripts: what the public surface answers, and which bytes it leaves, is what was
// recorded.
// Tries: js/session/session.js, js/store/store.js, src/operation/
import assert from "node:assert/strict";
import { test } from "node:test";

import { differing } from "../conformance/scripting/differences.mjs";
import { names, runScript, scriptOf } from "../conformance/scripting/run.mjs";

for (const name of names()) {
  const script = scriptOf(name);
  test(`${name}: ${script.tries}`, async () => {
    assert.ok(script.answers, `expected a record; 'node tests/conformance/record.mjs ${name}' makes it`);
    const differs = differing(script, await runScript(script, { seed: name }));
    if (differs) assert.fail(`${differs}\nWhere that is meant: node tests/conformance/record.mjs ${name}`);
  });
}

test("no record hangs on chance: with another one, and in another folder, all is the same", async () => {
  for (const name of names()) {
    const script = scriptOf(name);
    const differs = differing(script, await runScript(script, { seed: `another ${name}` }));
    if (differs) assert.fail(`${name}: ${differs}`);
  }
});
