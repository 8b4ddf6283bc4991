// @ts-check
// Grows a long transcript from the lines of real ones. The same seed gives the same bytes.

import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { root } from "./run.mjs";

/**
 * A transcript of Claude Code's shape.
 * @param {{ seed: number, messages: number, longestTurn: number, bytesEach: number }} size
 *   `longestTurn`: the messages of one turn in the middle
 */
export function grow({ seed, messages, longestTurn, bytesEach }) {
  const words = realTexts();
  const random = mulberry(seed);
  const session = `00000000-0000-4000-8000-${String(seed).padStart(12, "0")}`;
  const lines = [];
  let parent = null;
  let call = null;
  let inTurn = 0;
  for (let n = 0; n < messages; n += 1) {
    const uuid = `00000000-0000-4000-9000-${String(n).padStart(12, "0")}`;
    const envelope = { parentUuid: parent, isSidechain: false, sessionId: session, cwd: "/home/ann/code", version: "2.1.329", uuid, timestamp: new Date(Date.UTC(2025, 10, 22, 10, 0, n)).toISOString() };
    const long = n >= messages / 4 && n < messages / 4 + longestTurn;
    const text = piece(words, random, bytesEach);
    let message;
    if (call) {
      message = { role: "user", content: [{ type: "tool_result", tool_use_id: call, content: piece(words, random, bytesEach * 3), is_error: random() < 0.05 }] };
      call = null;
    } else if (inTurn === 0 || (!long && random() < 0.2)) {
      message = { role: "user", content: text };
      inTurn = 1;
    } else if (random() < 0.8) {
      call = `toolu_${String(n).padStart(24, "0")}`;
      const name = ["Read", "Bash", "Grep", "Edit"][Math.floor(random() * 4)];
      message = { role: "assistant", id: `msg_${n}`, model: "claude-sonnet-4-5", content: [{ type: "text", text: text.slice(0, 80) }, { type: "tool_use", id: call, name, input: { path: `/home/ann/code/src/${n}.js` } }] };
    } else {
      message = { role: "assistant", id: `msg_${n}`, model: "claude-sonnet-4-5", content: [{ type: "text", text }] };
    }
    lines.push(JSON.stringify({ ...envelope, type: message.role, message }));
    parent = uuid;
  }
  return `${lines.join("\n")}\n`;
}

// All texts of the transcripts that the project ships, one after the other.
function realTexts() {
  const folder = join(root, "tests", "fixtures", "claude-code");
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".jsonl")).sort();
  const texts = [];
  for (const file of files) {
    for (const line of readFileSync(join(folder, file), "utf8").split("\n")) {
      if (!line.startsWith("{")) continue;
      const content = tryParse(line)?.message?.content;
      const blocks = typeof content === "string" ? [content] : (content ?? []).map((/** @type {any} */ block) => block.text ?? block.content);
      texts.push(...blocks.filter((/** @type {unknown} */ text) => typeof text === "string" && text.length < 20_000));
    }
  }
  return texts.join("\n");
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
  return words.slice(start, start + length).toWellFormed?.() ?? words.slice(start, start + length);
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
