// @ts-check
// A transcript that is only read: its turns, and words in it, of every agent's real files.
// Tries: js/session/transcript.js, src/interop/transcript.rs
import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import { LeftoffError, readTranscript } from "../../js/index.js";

/** @typedef {import("../../js/index.js").Transcript} Transcript */

const fixtures = fileURLToPath(new URL("../fixtures", import.meta.url));
const LARGEST = 40;

/** The transcripts that there are, a few of each agent. @returns {Promise<[name: string, transcript: Transcript][]>} */
async function transcripts() {
  /** @type {[string, Transcript][]} */
  const all = [];
  for (const agent of readdirSync(fixtures).filter((name) => !name.includes("."))) {
    const names = readdirSync(join(fixtures, agent), { recursive: true, encoding: "utf8" })
      .filter((name) => /\.jsonl?$/.test(name))
      .sort();
    for (const name of names.slice(0, LARGEST)) {
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

const read = await transcripts();

test("each message is in one turn, and each message of the user's begins one", () => {
  assert.ok(new Set(read.map(([name]) => name.split("/")[0])).size >= 6);
  for (const [name, transcript] of read) {
    const turns = transcript.outline();
    assert.deepEqual(
      turns.map(({ start }) => transcript.slice(start, start + 1)[0]?.id),
      turns.map(({ id }) => id),
      name,
    );
    assert.equal(
      turns.reduce((at, { start, messageCount }) => (assert.equal(start, at, name), at + messageCount), 0),
      transcript.length,
      name,
    );
    const asked = transcript.slice().flatMap(({ role }, at) => (role === "user" || at === 0 ? [at] : []));
    assert.deepEqual(
      turns.map(({ start }) => start),
      asked,
      name,
    );
    const calls = transcript.slice().flatMap(({ assistant }) => assistant?.toolCalls ?? []);
    assert.equal(
      turns.flatMap(({ tools }) => tools).reduce((sum, { count }) => sum + count, 0),
      calls.length,
      name,
    );
  }
});

test("what is found are the messages that have all words, the newest first", () => {
  for (const [name, transcript] of read) {
    const messages = transcript.slice();
    const words = messages.flatMap(({ content }) =>
      typeof content === "string" ? (content.match(/\b[a-z]{5,12}\b/g) ?? []) : [],
    );
    for (const word of new Set([words[0], words[words.length >> 1], words.at(-1)].filter((one) => one !== undefined))) {
      const found = transcript.search(word.toUpperCase());
      const expected = messages
        .filter(({ content }) => typeof content === "string" && content.toLowerCase().includes(word))
        .map(({ id }) => id)
        .reverse();
      const ids = found.map(({ id }) => id);
      assert.deepEqual(
        ids.filter((id) => expected.includes(id)),
        expected,
        `${name}: ${word}`,
      );
      for (const { excerpt } of found)
        assert.ok(
          excerpt.some(({ text, isHit }) => isHit && text.toLowerCase().includes(word)),
          `${name}: ${word}`,
        );
    }
    assert.deepEqual(transcript.search(""), []);
  }
});

test("a file that is nested too deep, and a folder, are told as what they are", async () => {
  const deep = `${"[".repeat(200)}${"]".repeat(200)}`;
  const line = `{"type":"user","uuid":"1","sessionId":"s","message":{"role":"user","content":${deep}}}`;
  for (const text of [line, `${line}\n${line}\n`, `{\n  "sessionId": "s",\n  "messages": ${deep}\n}`, deep]) {
    await assert.rejects(
      readTranscript(new TextEncoder().encode(text)),
      { code: "too_deep", message: /nested at most 128 deep, but found/ },
      text.slice(0, 40),
    );
  }
  // One line does not cost the others.
  const fine = line.replace(deep, '"Hello"');
  const { problems, length } = await readTranscript(new TextEncoder().encode(`${line}\n${fine}\n`));
  assert.deepEqual([problems.map(({ code }) => code), length], [["too_deep"], 1]);
  // What is no JSON is no deep one.
  await assert.rejects(readTranscript(new TextEncoder().encode(`fn main() ${"{".repeat(200)}`)), {
    code: "unknown_format",
  });
  await assert.rejects(readTranscript(fixtures), {
    code: "not_a_file",
    message: /but found a folder: store\.import reads all that is in one$/,
  });
});
