// @ts-check
// The example of a chat with the AI SDK, begun twice.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import process from "node:process";

/**
 * Two things that are said in one chat, and one more after a new start.
 * @param {string} folder where the example lies, beside the packages
 */
export function talkTwice(folder) {
  const [first, second] = ["I was sent 3 messages.", "I was sent 7 messages."];
  const before = `user: Hello\nassistant: ${first}\nuser: Again\nassistant: ${second}\n`;
  const said = ["Hello\nAgain\n", "Once more\n"].map((input) =>
    execFileSync(process.execPath, ["ai-sdk.mjs", "chats-ai-sdk"], { cwd: folder, input, encoding: "utf8" }),
  );
  assert.deepEqual(said, [`${first}\n${second}\n`, `${before}I was sent 11 messages.\n`]);
}
