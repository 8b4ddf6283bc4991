// @ts-check
/** An agent's conversation: prompts, answers with calls, results. Its texts are those of `corpus`. */

import { chance } from "../tests/faults/tools.mjs";
import { corpus } from "./corpus.mjs";

/** Bytes of a result: each order of magnitude as often as any other. */
const RESULT = { min: 200, max: 8000 };
const PROMPT = { min: 40, max: 1500 };
const ANSWER = { min: 20, max: 1200 };
/** One in so many answers ends a turn; one in so many calls a second tool beside the first. */
const TURN = 12;
const SECOND = 4;

/** @typedef {{ role: string, content: string, assistant?: object, tool?: object }} Draft */
/** @typedef {{ texts: Record<string, string>, random: ReturnType<typeof chance> }} From */

/**
 * Drafts of messages, the same ones each time.
 * @param {number} seed
 * @returns {Generator<Draft>} without an end
 */
export function* conversation(seed = 1) {
  /** @type {From} */
  const from = { texts: byKind(), random: chance(seed) };
  for (let turn = 0; ; turn += 1) {
    yield { role: "user", content: piece(from, "prose", PROMPT) };
    for (let step = 0; from.random.below(TURN) > 0; step += 1) {
      const toolCalls = Array.from({ length: from.random.below(SECOND) ? 1 : 2 }, (_, place) =>
        call(`call_${seed}_${turn}_${step}_${place}`, from),
      );
      const content = from.random.below(2) ? piece(from, "prose", ANSWER) : "";
      yield { role: "assistant", content, assistant: { model: "gpt-5", toolCalls, finishReason: "tool_calls" } };
      for (const { id, name } of toolCalls)
        yield {
          role: "tool",
          content: piece(from, name === "Read" ? "source" : "data", RESULT),
          tool: { callId: id, name },
        };
    }
    yield {
      role: "assistant",
      content: piece(from, "prose", ANSWER),
      assistant: { model: "gpt-5", finishReason: "stop" },
    };
  }
}

/** @param {string} id @param {From} from */
function call(id, { random }) {
  const file = `src/part-${random.below(200)}/file-${random.below(1000)}.js`;
  const calls = [
    { id, name: "Read", arguments: JSON.stringify({ file_path: file }) },
    {
      id,
      name: "Bash",
      arguments: JSON.stringify({ command: `node --test ${file}`, description: "run the tests of one file" }),
    },
    { id, name: "Grep", arguments: JSON.stringify({ pattern: "function \\w+\\(", path: file }) },
  ];
  return /** @type {typeof calls[0]} */ (calls[random.below(calls.length)]);
}

/** @param {From} from @param {string} kind @param {{ min: number, max: number }} bytes */
function piece({ texts, random }, kind, { min, max }) {
  const text = texts[kind] ?? "";
  const length = random.size(min, max);
  const start = random.below(text.length - length);
  return text.slice(start, start + length).toWellFormed();
}

/** @type {Record<string, string> | undefined} */
let known;

function byKind() {
  if (known) return known;
  known = {};
  for (const { kind, text } of corpus()) known[kind] = (known[kind] ?? "") + text;
  return known;
}
