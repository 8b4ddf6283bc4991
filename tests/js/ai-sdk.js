// @ts-check
// What the tests of `leftoff/ai` share: models that say what is given, in both versions of the SDK.

import * as current from "ai-current";
import { MockLanguageModelV4 } from "ai-current/test";
import * as previous from "ai-previous";
import { MockLanguageModelV3 } from "ai-previous/test";

/** @typedef {{ name: string, sdk: any, Model: any, stopAfter: (count: number) => any }} Version */

/** Both versions. @type {Version[]} */
export const VERSIONS = [
  { name: "version 7", sdk: current, Model: MockLanguageModelV4, stopAfter: current.isStepCount },
  { name: "version 6", sdk: previous, Model: MockLanguageModelV3, stopAfter: previous.stepCountIs },
];

const usage = {
  inputTokens: { total: 100, noCache: 40, cacheRead: 50, cacheWrite: 10 },
  outputTokens: { total: 20, text: 12, reasoning: 8 },
};

/** A call of the tool `look`. @param {string} id @param {string} [at] */
export const call = (id, at = "src") => ({
  type: "tool-call",
  toolCallId: id,
  toolName: "look",
  input: JSON.stringify({ at }),
});

/** A text that is said. @param {string} text */
export const text = (text) => ({ type: "text", text });

/**
 * A model that says one content after another, and keeps what it was sent.
 * @param {Version} version @param {any[][]} contents @param {(place: number) => unknown} [before] is called before each
 */
export function modelOf({ sdk, Model }, contents, before = () => {}) {
  let place = 0;
  const next = async () => {
    await before(place);
    const content = contents[place++] ?? [];
    const reason = content.some(({ type }) => type === "tool-call") ? "tool-calls" : "stop";
    return { content, finishReason: { unified: reason, raw: reason }, usage, warnings: [] };
  };
  return new Model({
    doGenerate: next,
    async doStream() {
      const { content, ...end } = await next();
      const chunks = content.flatMap((part, at) =>
        part.type === "text"
          ? [
              { type: "text-start", id: `${at}` },
              ...part.text
                .split(/(?<= )/)
                .map((/** @type {string} */ delta) => ({ type: "text-delta", id: `${at}`, delta })),
              { type: "text-end", id: `${at}` },
            ]
          : [part],
      );
      const stream = [{ type: "stream-start", warnings: [] }, ...chunks, { type: "finish", ...end }];
      return { stream: sdk.simulateReadableStream({ chunks: stream }) };
    },
  });
}

/** The tool `look`. @param {Version} version @param {(at: string) => unknown} [look] */
export const toolsOf = ({ sdk }, look = (at) => ({ found: `a parser in ${at}` })) => ({
  look: sdk.tool({
    description: "Looks at a folder.",
    inputSchema: sdk.jsonSchema({ type: "object", properties: { at: { type: "string" } } }),
    execute: async (/** @type {{ at: string }} */ { at }) => look(at),
  }),
});

/** What a session's path says, each message in short. @param {import("../../js/index.js").Session} session */
export async function said(session) {
  const all = [];
  for await (const { role, content, assistant, tool } of session.messages())
    all.push(
      [role, content, ...(assistant?.toolCalls ?? []).map(({ id }) => id), ...(tool ? [tool.callId] : [])].join(" "),
    );
  return all;
}

/** A message of a chat. @param {string} id @param {any} role @param {...any} parts texts are parts, too */
export const message = (id, role, ...parts) => ({
  id,
  role,
  parts: parts.map((part) => (typeof part === "string" ? { type: "text", text: part } : part)),
});

/** A call on a screen. @param {string} toolCallId @param {object} more */
export const tool = (toolCallId, more) => ({ type: "tool-look", toolCallId, input: { at: "src" }, ...more });
