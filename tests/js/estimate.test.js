// @ts-check
// `estimate-1` beside the tokenizers of Llama, Qwen, Mistral and DeepSeek. The wide set is that of
// tests/faults/estimate.fault.mjs.
// Tries: src/tokens/estimate.rs
import assert from "node:assert/strict";
import { test } from "node:test";

import { filesBelow, compareFamily, families, texts } from "../faults/families.mjs";

/** Where one cost for all cannot hold: scripts that families write in very different numbers of tokens. */
const OUT = {
  llama: ["hebrew.txt", "hindi.txt"],
  qwen: ["chinese-simplified.txt", "greek.txt", "hindi.txt", "japanese.txt"],
  mistral: ["chinese-traditional.txt"],
  deepseek: ["chinese-simplified.txt", "hindi.txt", "vietnamese.txt"],
};

const fixtures = texts(["texts", "claude-code"].flatMap((name) => filesBelow(`tests/fixtures/${name}`)));

for (const family of families) {
  test(`the estimate is 90 to 140 percent of what ${family} counts, but for the texts that are named`, async () => {
    assert.ok(fixtures.length > 80, String(fixtures.length));
    const { out } = await compareFamily(family, fixtures);
    assert.deepEqual(
      [...out.keys()].sort(),
      OUT[family].map((name) => `tests/fixtures/texts/${name}`),
      JSON.stringify([...out]),
    );
  });
}
