import { count, document, isObject, zeroCounts, walk } from "./walk.mjs";

export function tally(text) {
  const whole = document(text);
  if (Array.isArray(whole)) {
    if (whole[0]?.say ?? whole[0]?.ask) return countShown(whole);
    return whole.some((message) => /<task>|modelInfo/.test(JSON.stringify(message)))
      ? messages(whole, {}, false)
      : null;
  }
  if (!Array.isArray(whole?.messages) || whole.sessionId === undefined) return null;
  const fields = {};
  for (const key of Object.keys(whole)) count(fields, `session.${key}`);
  walk({ ...whole.origin }, "session.origin", fields);
  const version = whole.origin?.version;
  return {
    ...messages(whole.messages, fields, /^compaction/.test(whole.messages[0]?.metadata?.kind)),
    versions: version ? [version] : [],
  };
}

function messages(list, fields, isBeside) {
  const tally = zeroCounts();
  for (const message of list) {
    walk(message, "message", fields);
    const blocks = Array.isArray(message.content) ? message.content : [{ type: "text", text: message.content }];
    const of = (kind) => blocks.filter((block) => block.type === kind).length;
    tally.toolCalls += of("tool_use");
    tally.toolResults += of("tool_result");
    if (message.role === "assistant" || blocks.some(({ type }) => type !== "tool_result")) tally[message.role] += 1;
  }
  const [main, side] = isBeside ? [zeroCounts(), tally] : [tally, zeroCounts()];
  return { main, side, types: {}, fields, bad: 0, versions: [] };
}

const ANSWERS = ["text", "reasoning", "completion_result", "tool", "command", "followup", "plan_mode_respond"];

function countShown(list) {
  const [main, side, types, fields] = [zeroCounts(), zeroCounts(), {}, {}];
  const kind = (entry) => entry?.[entry.type];
  let speaker = "";
  list.forEach((entry, at) => {
    walk(entry, "shown", fields);
    if (entry.partial && isObject(list[at + 1]) && kind(list[at + 1]) === kind(entry))
      return void count(types, `${entry.type}/${kind(entry)}`);
    const isTask = kind(entry) === "text" && main.user + main.assistant === 0;
    if (isTask || /^user_feedback/.test(kind(entry))) {
      main.user += 1;
      speaker = "user";
    } else if (kind(entry) === "command_output") {
      main.toolResults += 1;
      speaker = "tool";
    } else if (kind(entry) === "api_req_started") speaker = "";
    else if (ANSWERS.includes(kind(entry))) {
      if (speaker !== "assistant") main.assistant += 1;
      speaker = "assistant";
      if (kind(entry) === "tool" || kind(entry) === "command") main.toolCalls += 1;
    } else count(types, `${entry.type}/${kind(entry)}`);
  });
  return { main, side, types, fields, bad: 0, versions: [] };
}
