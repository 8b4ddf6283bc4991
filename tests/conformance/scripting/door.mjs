// @ts-check
/** Another door than JavaScript's under all scripts: those that it cannot run are listed, each by a reason. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { differing } from "./differences.mjs";
import { names, runScript, scriptOf } from "./run.mjs";

/** @import { Surface } from "./host.mjs" */
/** @import { Stamps } from "./stamps.mjs" */

/**
 * @param {string} door
 * @param {(host: { root: string, stamps: Stamps }) => Surface} on
 * @param {Record<string, string>[]} lists of scripts, with blanks between them, by reasons
 */
export function tryAll(door, on, lists) {
  const reasons = new Map(
    lists.flatMap((list) =>
      Object.entries(list).flatMap(([reason, scripts]) => scripts.split(" ").map((name) => [name, reason])),
    ),
  );
  for (const name of names()) {
    const script = scriptOf(name);
    const differs = () => runScript(script, { seed: name, on }).then((found) => differing(script, found));
    if (reasons.has(name)) {
      test(`${name}: not in ${door}, ${reasons.get(name)}`, async () => {
        const found = await differs().catch((error) => `${error.message} ${error.cause}`);
        assert.ok(
          found,
          `expected "${name}" to be another one in ${door}, but found it the same: take it out of the list`,
        );
      });
    } else {
      test(`${name}: ${script.tries}`, async () => {
        const found = await differs();
        if (found) assert.fail(found);
      });
    }
  }

  test("whatever is listed is a script", () => {
    assert.deepEqual(
      [...reasons.keys()].filter((name) => !names().includes(name)),
      [],
    );
  });
}
