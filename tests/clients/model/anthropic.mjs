// @ts-check
/** Anthropic's Messages API, as much of it as a client needs: answers whole or in pieces, and counts. */

import { halves, namedEvents } from "./pieces.mjs";
import { textOf, Turns } from "./turns.mjs";

/** @import { Answer } from "./script.mjs" */
/** @import { Api } from "./server.mjs" */

/** @type {Api} */
export const anthropic = {
  answers(method, path) {
    return method === "POST" && (path === "/v1/messages" || path === "/v1/messages/count_tokens");
  },

  isMain(path, body) {
    // Titles and the like are asked for without the tools that the conversation has.
    return path === "/v1/messages" && (body.tools ?? []).length > 2;
  },

  turns({ messages }) {
    const turns = new Turns();
    for (const { role, content } of messages) {
      const blocks = typeof content === "string" ? [{ type: "text", text: content }] : content;
      for (const block of blocks) read(turns, role, block);
    }
    return turns.list;
  },

  write(path, body, answer, { json, stream }) {
    if (path.endsWith("/count_tokens"))
      return json({ input_tokens: Math.ceil(JSON.stringify(body.messages).length / 4) });
    const content = contentOf(answer);
    const stop = { stop_reason: answer.calls.length > 0 ? "tool_use" : "end_turn", stop_sequence: null };
    // Far from any limit: no client shall make the conversation shorter by itself.
    const usage = {
      input_tokens: 1000,
      output_tokens: 100,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: 0,
    };
    const message = {
      id: `msg_${answer.id}`,
      type: "message",
      role: "assistant",
      model: body.model,
      content,
      ...stop,
      usage,
    };
    if (!body.stream) return json(message);
    stream(
      namedEvents([
        ["message_start", { message: { ...message, content: [], stop_reason: null } }],
        ...content.flatMap(pieces),
        ["message_delta", { delta: stop, usage }],
        ["message_stop", {}],
      ]),
    );
  },
};

/** @param {Turns} turns @param {string} role @param {any} block */
function read(turns, role, block) {
  switch (block.type) {
    case "text":
      if (role === "user") turns.user(block.text);
      if (role === "assistant") turns.assistant(block.text);
      return;
    case "tool_use":
      return turns.call({ id: block.id, name: block.name, input: block.input });
    case "tool_result":
      return turns.result({
        id: block.tool_use_id,
        text: textOf(block.content),
        ...(block.is_error ? { isError: true } : {}),
      });
  }
}

/** @param {Answer} answer @returns {any[]} */
function contentOf({ reasoning, text, calls }) {
  const thinking = reasoning
    ? [{ type: "thinking", thinking: reasoning, signature: Buffer.from("nobody signed this").toString("base64") }]
    : [];
  return [
    ...thinking,
    ...(text ? [{ type: "text", text }] : []),
    ...calls.map((call) => ({ type: "tool_use", ...call })),
  ];
}

/** One block as it comes in pieces. @param {any} block @param {number} index @returns {[string, object][]} */
function pieces(block, index) {
  const deltas = {
    thinking: () => [
      { type: "thinking_delta", thinking: block.thinking },
      { type: "signature_delta", signature: block.signature },
    ],
    text: () => halves(block.text).map((text) => ({ type: "text_delta", text })),
    tool_use: () =>
      halves(JSON.stringify(block.input)).map((partial_json) => ({ type: "input_json_delta", partial_json })),
  };
  const empty = { thinking: { thinking: "", signature: "" }, text: { text: "" }, tool_use: { input: {} } };
  const type = /** @type {keyof typeof empty} */ (block.type);
  return [
    ["content_block_start", { index, content_block: { ...block, ...empty[type] } }],
    ...deltas[type]().map((delta) => /** @type {[string, object]} */ (["content_block_delta", { index, delta }])),
    ["content_block_stop", { index }],
  ];
}
