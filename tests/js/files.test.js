// @ts-check
/** A file costs what is sent of it, also where it lies in a blob, and however large it is. */
// Tries: src/tokens/images.rs, src/tokens/cost.rs, src/shapes/file.rs

import assert from "node:assert/strict";
import { test } from "node:test";

import { MemoryStorage, countTokens, openStore } from "../../js/index.js";

const FORMATS = /** @type {const} */ ([
  "leftoff",
  "openai-chat",
  "openai-responses",
  "anthropic",
  "gemini",
  "ai-sdk",
  "ai-sdk-ui",
]);
const text = "error: expected a number, but found a string instead\n".repeat(7_500);
const log = { mime: "text/plain", name: "build.log", data: Buffer.from(text).toString("base64") };
const store = await openStore({ home: "/home", project: "/", storage: new MemoryStorage() });

/** A picture of 1092 by 1092, with so many bytes. @param {number} bytes */
function picture(bytes) {
  const png = Buffer.alloc(bytes, 0xff);
  Buffer.from("\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "latin1").copy(png);
  png.writeUInt32BE(1092, 16);
  png.writeUInt32BE(1092, 20);
  return { mime: "image/png", data: png.toString("base64") };
}

test("a text of 390 KB costs what it has in tokens in every shape", async () => {
  assert.ok(text.length > 384 * 1024);
  const session = await store.create({ model: "gpt-5" });
  await session.append({ role: "user", content: "Why?", attachments: [log] });
  const tokens = await countTokens(text);
  for (const format of FORMATS) {
    const { tokensUsed, messages } = await session.context({ window: 1_000_000, format });
    // A line feed is two letters in JSON.
    assert.ok(tokensUsed >= tokens && tokensUsed < tokens * 1.4 + 100, `${format}: ${tokensUsed} of ${tokens}`);
    const sent = JSON.stringify(messages);
    assert.ok(sent.includes(log.data) || sent.includes(JSON.stringify(text).slice(1, -1)), format);
  }
});

test("where it does not fit, the message is there without it, within the budget", async () => {
  const session = await store.create({ model: "gpt-5" });
  await session.append([
    { role: "user", content: "Hello" },
    { role: "assistant", content: "Hello." },
    { role: "user", content: "Why?", attachments: [log] },
  ]);
  for (const format of FORMATS) {
    for (const window of [2000, 32_000]) {
      const { tokensUsed, tokenBudget, messages } = await session.context({ window, format });
      assert.ok(tokensUsed <= tokenBudget, `${format}: ${tokensUsed} of ${tokenBudget}`);
      const sent = JSON.stringify(messages);
      assert.ok(sent.includes("Why?") && sent.includes("build.log") && !sent.includes(log.data), format);
      // What is counted is what is sent.
      if (format !== "leftoff") assert.ok((await countTokens(sent)) <= tokensUsed, format);
    }
  }
});

test("forty screenshots in blobs cost what Anthropic says", async () => {
  const session = await store.create({ model: "claude-sonnet-4-5" });
  for (let nth = 0; nth < 40; nth += 1)
    await session.append({ role: "user", content: "", attachments: [picture(100_000 + nth)] });
  for (const format of /** @type {const} */ (["anthropic", "ai-sdk", "leftoff"])) {
    const { tokensUsed, includedMessageCount } = await session.context({ format });
    assert.equal(includedMessageCount, 40);
    assert.ok(tokensUsed >= 40 * 1590 && tokensUsed < 40 * (1590 + 60), `${format}: ${tokensUsed}`);
  }
});
