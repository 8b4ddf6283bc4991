// @ts-check
/** OpenAI's Responses, without a store: each request holds the whole conversation. */

import { halves, namedEvents } from "./pieces.mjs";
import { inputOf, textOf, texts, Turns } from "./turns.mjs";

/** @import { Answer, Call } from "./script.mjs" */
/** @import { Api } from "./server.mjs" */

/** @type {Api} */
export const openaiResponses = {
  answers(method, path) {
    return method === "POST" && path === "/v1/responses";
  },

  isMain(_, body) {
    return (body.tools ?? []).length > 2;
  },

  turns({ input }) {
    const turns = new Turns();
    const items = typeof input === "string" ? [{ role: "user", content: input }] : input;
    for (const item of items) read(turns, item);
    return turns.list;
  },

  write(_, body, answer, { json, stream }) {
    const output = itemsOf(answer, body.tools ?? []);
    const usage = {
      input_tokens: 1000,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: 100,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: 1100,
    };
    const response = {
      id: `resp_${answer.id}`,
      object: "response",
      created_at: 1,
      status: "completed",
      model: body.model,
      output,
      usage,
    };
    if (!body.stream) return json(response);
    /** @type {[string, object][]} */
    const events = [
      ["response.created", { response: { ...response, status: "in_progress", output: [], usage: null } }],
      ...output.flatMap(pieces),
      ["response.completed", { response }],
    ];
    stream(namedEvents(events.map(([type, event], sequence_number) => [type, { sequence_number, ...event }])));
  },
};

/** @param {Turns} turns @param {any} item */
function read(turns, item) {
  const { type = "message", role, content, call_id: id, name } = item;
  switch (type) {
    case "message":
      if (role === "user") texts(content).forEach((text) => turns.user(text));
      if (role === "assistant") turns.assistant(textOf(content));
      return;
    case "function_call":
      return turns.call({ id, name, input: inputOf(item.arguments) });
    case "custom_tool_call":
      return turns.call({ id, name, input: { input: item.input } });
    case "function_call_output":
    case "custom_tool_call_output":
      return turns.result({ id, text: textOf(item.output) });
  }
}

/** @param {Answer} answer @param {any[]} tools @returns {any[]} */
function itemsOf({ id, reasoning, text, calls }, tools) {
  const thought = {
    type: "reasoning",
    id: `rs_${id}`,
    summary: [{ type: "summary_text", text: reasoning }],
    encrypted_content: Buffer.from("nobody can read this").toString("base64"),
  };
  const message = {
    type: "message",
    id: `msg_${id}`,
    role: "assistant",
    status: "completed",
    content: [{ type: "output_text", text, annotations: [] }],
  };
  const isCustom = (/** @type {string} */ name) => tools.some((tool) => tool.type === "custom" && tool.name === name);
  return [
    ...(reasoning ? [thought] : []),
    ...(text ? [message] : []),
    ...calls.map((call) => (isCustom(call.name) ? custom(call) : callItem(call))),
  ];
}

/** @param {Call} call */
function callItem({ id, name, input }) {
  return {
    type: "function_call",
    id: `fc_${id}`,
    call_id: id,
    name,
    arguments: JSON.stringify(input),
    status: "completed",
  };
}

// A custom tool takes a text, which the script has in a field.
/** @param {Call} call */
function custom({ id, name, input }) {
  return { type: "custom_tool_call", id: `ctc_${id}`, call_id: id, name, input: input.input, status: "completed" };
}

/** One item as it comes in pieces. @param {any} item @param {number} output_index @returns {[string, object][]} */
function pieces(item, output_index) {
  const of = { item_id: item.id, output_index };
  const inner = {
    reasoning: () => part({ ...of, summary_index: 0 }, "response.reasoning_summary", item.summary[0]),
    message: () => part({ ...of, content_index: 0 }, "response.output", item.content[0]),
    function_call: () => textEvents(of, "response.function_call_arguments", "arguments", item.arguments),
    custom_tool_call: () => textEvents(of, "response.custom_tool_call_input", "input", item.input),
  };
  const empty = {
    reasoning: { summary: [] },
    message: { content: [] },
    function_call: { arguments: "" },
    custom_tool_call: { input: "" },
  };
  const type = /** @type {keyof typeof empty} */ (item.type);
  return [
    ["response.output_item.added", { output_index, item: { ...item, status: "in_progress", ...empty[type] } }],
    ...inner[type](),
    ["response.output_item.done", { output_index, item }],
  ];
}

/** @param {object} of @param {string} name @param {any} whole @returns {[string, object][]} */
function part(of, name, whole) {
  const around = name === "response.output" ? "response.content_part" : `${name}_part`;
  return [
    [`${around}.added`, { ...of, part: { ...whole, text: "" } }],
    ...halves(whole.text).map((delta) => /** @type {[string, object]} */ ([`${name}_text.delta`, { ...of, delta }])),
    [`${name}_text.done`, { ...of, text: whole.text }],
    [`${around}.done`, { ...of, part: whole }],
  ];
}

/** @param {object} of @param {string} name @param {string} field @param {string} whole @returns {[string, object][]} */
function textEvents(of, name, field, whole) {
  return [
    ...halves(whole).map((delta) => /** @type {[string, object]} */ ([`${name}.delta`, { ...of, delta }])),
    [`${name}.done`, { ...of, [field]: whole }],
  ];
}
