// @ts-check
// Of each kind of secrets every sample is found whole: no more of it is left than the prefix that its service documents.
import assert from "node:assert/strict";
import { test } from "node:test";

import { countFound, SAMPLES } from "./secret-kinds/draw.js";
import { KNOWN } from "./secret-kinds/known.js";
import { NEWER } from "./secret-kinds/newer.js";
import { spansOf } from "./secret-samples.js";

for (const [name, kinds] of /** @type {const} */ ([["known", KNOWN], ["newer", NEWER]])) {
  test(`every kind of ${name} secrets is found whole in each sample`, async () => {
    const counts = await countFound(kinds, spansOf);
    assert.deepEqual([...counts].filter(([, found]) => found < SAMPLES), []);
  });
}
