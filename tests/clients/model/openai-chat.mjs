// @ts-check
/** OpenAI's chat completions, with the reasoning that other vendors' models add to them. */

import { halves, unnamedEvents } from "./pieces.mjs";
import { inputOf, textOf, texts, Turns } from "./turns.mjs";

/** @import { Answer } from "./script.mjs" */
/** @import { Api } from "./server.mjs" */

/** @type {Api} */
export const openaiChat = {
  answers(method, path) {
    return method === "POST" && path === "/v1/chat/completions";
  },

  isMain(_, body) {
    // Titles and the like are asked for without the tools that the conversation has.
    return (body.tools ?? []).length > 2;
  },

  turns({ messages }) {
    const turns = new Turns();
    for (const { role, content, tool_calls: calls = [], tool_call_id: id } of messages) {
      if (role === "user") texts(content).forEach((text) => turns.user(text));
      if (role === "assistant") turns.assistant(textOf(content));
      for (const call of calls)
        turns.call({ id: call.id, name: call.function.name, input: inputOf(call.function.arguments) });
      if (role === "tool") turns.result({ id, text: textOf(content) });
    }
    return turns.list;
  },

  write(_, body, answer, { json, stream }) {
    const finish_reason = answer.calls.length > 0 ? "tool_calls" : "stop";
    const about = { id: `chatcmpl-${answer.id}`, created: 1, model: body.model };
    const usage = { prompt_tokens: 1000, completion_tokens: 100, total_tokens: 1100 };
    const message = messageOf(answer);
    if (!body.stream)
      return json({ ...about, object: "chat.completion", choices: [{ index: 0, message, finish_reason }], usage });
    const chunk = (/** @type {object} */ delta, /** @type {string | null} */ reason = null) => ({
      ...about,
      object: "chat.completion.chunk",
      choices: [{ index: 0, delta, finish_reason: reason }],
    });
    stream(
      unnamedEvents([
        chunk({ role: "assistant", content: "" }),
        ...deltas(answer).map((delta) => chunk(delta)),
        chunk({}, finish_reason),
        { ...about, object: "chat.completion.chunk", choices: [], usage },
        "[DONE]",
      ]),
    );
  },
};

/** @param {Answer} answer */
function messageOf({ reasoning, text, calls }) {
  return {
    role: "assistant",
    content: text || null,
    ...(reasoning ? { reasoning_content: reasoning } : {}),
    ...(calls.length > 0 ? { tool_calls: calls.map(callOf) } : {}),
  };
}

/** @param {import("./script.mjs").Call} call */
function callOf({ id, name, input }) {
  return { id, type: "function", function: { name, arguments: JSON.stringify(input) } };
}

/** @param {Answer} answer @returns {object[]} */
function deltas({ reasoning, text, calls }) {
  const pieces = (/** @type {string} */ whole) => (whole === "" ? [] : halves(whole));
  return [
    ...pieces(reasoning).map((reasoning_content) => ({ reasoning_content })),
    ...pieces(text).map((content) => ({ content })),
    ...calls.flatMap((call, index) => {
      const {
        id,
        type,
        function: { name, arguments: written },
      } = callOf(call);
      const [first, second] = halves(written);
      return [
        { tool_calls: [{ index, id, type, function: { name, arguments: first } }] },
        { tool_calls: [{ index, function: { arguments: second } }] },
      ];
    }),
  ];
}
