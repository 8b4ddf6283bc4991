import { count, isObject, zeroCounts, records, walk } from "./walk.mjs";

const CALLS = ["function_call", "custom_tool_call", "local_shell_call", "tool_search_call", "tool_call"];
const RESULTS = [
  "function_call_output",
  "custom_tool_call_output",
  "tool_search_output",
  "tool_result",
  "function_result",
];
// Done by the provider, which tells both at once.
const BOTH = ["web_search_call", "image_generation_call"];
const LINES = ["session_meta", "response_item", "event_msg", "turn_context", "compacted"];
const TEXTS = ["input_text", "output_text", "text", "Text"];

const textsOf = (content) =>
  (typeof content === "string"
    ? [content]
    : (content ?? []).filter((b) => isObject(b) && TEXTS.includes(b.type)).map((b) => b.text)
  ).filter(Boolean);

export function tally(text) {
  const all = records(text);
  const isLine = (r) => LINES.includes(r?.type) && isObject(r.payload);
  const isFlat = (r) => isObject(r) && (r.timestamp ?? r.created_at) && r.role && r.model && !r.type && !r.payload;
  if (!all.slice(0, 20).some(({ record }) => isLine(record) || isFlat(record))) return null;
  const [main, types, fields, versions] = [zeroCounts(), {}, {}, new Set()];
  let [bad, open, described] = [0, false, false];
  const once = {};
  // Whether the other one has said it already.
  const isTwin = (by, role, said) => {
    const key = (who) => JSON.stringify([who, role, said]);
    const other = key(by === "item" ? "event" : "item");
    if (once[other] > 0) return (once[other] -= 1) >= 0;
    once[key(by)] = (once[key(by)] ?? 0) + 1;
    return false;
  };
  const say = (kind) => {
    main[kind] += 1;
    open = false;
  };
  const piece = () => {
    if (!open) main.assistant += 1;
    open = true;
  };
  const speak = (by, role, texts) => {
    if (role === "assistant") for (const one of texts) isTwin(by, role, one) || piece();
    else
      isTwin(by, role === "developer" ? "system" : role, texts.join("\n\n")) ||
        say(role === "developer" ? "system" : role);
  };
  const item = (p, type) => {
    if (type === "message") speak("item", p.role, textsOf(p.content ?? p.message));
    else if (type === "reasoning") {
      if (p.encrypted_content || p.summary?.length || p.content?.length) piece();
    } else if (CALLS.includes(type)) {
      piece();
      main.toolCalls += 1;
    } else if (RESULTS.includes(type)) say("toolResults");
    else if (BOTH.includes(type)) {
      piece();
      main.toolCalls += 1;
      say("toolResults");
    } else if (type === "agent_message") say("user");
    else return false;
    return true;
  };
  const event = (p, type) => {
    if (type === "token_count") open = false;
    else if (type === "user_message" || type === "agent_message") {
      if (p.message) speak("event", type === "user_message" ? "user" : "assistant", [p.message]);
    } else if (type === "item_completed") {
      const role = { UserMessage: "user", AgentMessage: "assistant" }[p.item?.type];
      if (!role) return false;
      const said = textsOf(p.item.content).join("\n\n");
      if (said) speak("event", role, [said]);
    } else return type === "thread_rolled_back" || type === "thread_name_updated";
    return true;
  };
  for (const { record } of all) {
    if (!isObject(record)) {
      bad += 1;
      continue;
    }
    const { type = "", payload } = record;
    if (!payload && (record.role || ["tool_call", "tool_result", "function_call", "function_result"].includes(type))) {
      item(record, type || "message");
      walk(record, `flat/${type || "message"}`, fields);
      continue;
    }
    if (!isObject(payload) || !type) {
      bad += 1;
      continue;
    }
    const path = ["response_item", "event_msg"].includes(type) ? `${type}/${payload.type}` : type;
    let told = true;
    if (type === "session_meta") {
      told = !described;
      described = true;
      if (told) versions.add(payload.cli_version);
    } else if (type === "response_item") told = item(payload, payload.type);
    else if (type === "event_msg") told = event(payload, payload.type);
    else if (type === "compacted") {
      if (payload.message) say("user");
    } else if (type === "token_usage_record") open = false;
    else told = type === "turn_context";
    if (told) walk(record, path, fields);
    else count(types, payload.type === "item_completed" && payload.item ? `${path}/${payload.item.type}` : path);
  }
  const isSilent = Object.values(main).every((number) => number === 0);
  return { isSilent, main, side: zeroCounts(), types, fields, bad, versions: [...versions].filter(Boolean) };
}
