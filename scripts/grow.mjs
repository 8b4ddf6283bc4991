// @ts-check
// Grows a long transcript from the lines of real ones. The same seed gives the same bytes.

import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { root } from "./run.mjs";

/** The size that the demo grows: about 100,000 tokens. */
export const LONG_SESSION = Object.freeze({ seed: 5, messages: 1_000, longestTurn: 400, bytesEach: 195 });

const TOOLS = ["Read", "Bash", "Grep", "Edit"];

/**
 * Grows a transcript of Claude Code's shape: prompts, answers, calls, parallel ones too, and results. A few calls are
 * never answered.
 * @param {{ seed: number, messages: number, longestTurn: number, bytesEach: number }} size
 *   `longestTurn`: the messages of one turn in the middle; `bytesEach`: about the bytes of a text, a result has three
 * times as many
 */
export function grow({ seed, messages, longestTurn, bytesEach }) {
  const random = mulberry(seed);
  const text = (share = 1) => piece(realTexts(), random, bytesEach * share);
  const longTurn = Math.floor(messages / 4);
  /** @type {string[]} */
  let calls = [];
  const next = (/** @type {number} */ n) => {
    const isLong = n > longTurn && n < longTurn + longestTurn;
    const begins =
      n === 0 || n === longTurn || n === longTurn + longestTurn || (!isLong && random() < (calls.length ? 0.01 : 0.2));
    if (begins) {
      calls = [];
      return { role: "user", content: text() };
    }
    if (calls.length > 0)
      return {
        role: "user",
        content: [{ type: "tool_result", tool_use_id: calls.shift(), content: text(3), is_error: random() < 0.05 }],
      };
    const answer = { role: "assistant", id: `msg_${n}`, model: "claude-sonnet-4-5" };
    if (random() < 0.2) return { ...answer, content: [{ type: "text", text: text() }] };
    calls = Array.from(
      { length: random() < 0.2 ? 3 : 1 },
      (_, place) => `toolu_${String(n * 3 + place).padStart(24, "0")}`,
    );
    const uses = calls.map((id) => ({
      type: "tool_use",
      id,
      name: TOOLS[Math.floor(random() * TOOLS.length)],
      input: { path: `/home/ann/code/src/${n}.js` },
    }));
    return { ...answer, content: [{ type: "text", text: text(0.3) }, ...uses] };
  };
  return Array.from({ length: messages }, (_, n) => line(seed, n, next(n))).join("");
}

/** @param {number} seed @param {number} n @param {{ role: string }} message */
function line(seed, n, message) {
  const uuid = (/** @type {number} */ place) => `00000000-0000-4000-9000-${String(place).padStart(12, "0")}`;
  const sessionId = `00000000-0000-4000-8000-${String(seed).padStart(12, "0")}`;
  const timestamp = new Date(Date.UTC(2025, 10, 22, 10, 0, n)).toISOString();
  const envelope = {
    parentUuid: n > 0 ? uuid(n - 1) : null,
    isSidechain: false,
    sessionId,
    cwd: "/home/ann/code",
    version: "2.1.329",
    uuid: uuid(n),
    timestamp,
  };
  return `${JSON.stringify({ ...envelope, type: message.role, message })}\n`;
}

/** @type {string | undefined} */
let words;

// All texts of the transcripts that the project ships, one after the other.
function realTexts() {
  return (words ??= transcripts().flatMap(textsOf).join("\n"));
}

/** The transcripts of Claude Code that the project ships: paths. */
export function transcripts() {
  const folder = join(root, "tests", "fixtures", "claude-code");
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".jsonl"))
    .sort()
    .map((name) => join(folder, name));
}

/** @param {string} file @returns {string[]} */
function textsOf(file) {
  const contents = readFileSync(file, "utf8")
    .split("\n")
    .filter((line) => line.startsWith("{"))
    .map((line) => tryParse(line)?.message?.content ?? []);
  const texts = contents.flatMap((content) =>
    typeof content === "string" ? [content] : content.map((/** @type {any} */ block) => block.text ?? block.content),
  );
  return texts.filter((text) => typeof text === "string" && text.length < 20_000);
}

/** @param {string} line @returns {any} */
function tryParse(line) {
  try {
    return JSON.parse(line);
  } catch {
    return null; // Some of the real lines are broken on purpose.
  }
}

/** @param {string} words @param {() => number} random @param {number} bytes */
function piece(words, random, bytes) {
  const length = Math.ceil(bytes * (0.2 + 1.6 * random()));
  const start = Math.floor(random() * Math.max(1, words.length - length));
  return words.slice(start, start + length).toWellFormed();
}

// A small generator of even chance, so that the same seed grows the same transcript everywhere.
/** @param {number} seed */
function mulberry(seed) {
  return () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}
