import { count, isObject, zeroCounts, records, walk } from "./walk.mjs";

const ROLES = {
  user: "user",
  assistant: "assistant",
  toolResult: "toolResults",
  bashExecution: "user",
  custom: "user",
  hookMessage: "user",
  compactionSummary: "user",
  branchSummary: "user",
};

export function tally(text) {
  const [main, side, types, fields] = [zeroCounts(), zeroCounts(), {}, {}];
  let bad = 0,
    isKnown = false;
  for (const { record } of records(text)) {
    const { type, message, ...envelope } = isObject(record) ? record : {};
    if (typeof type !== "string") {
      bad += 1;
      continue;
    }
    if (type === "session" || type === "session_info") {
      isKnown ||= type === "session" && record.cwd !== undefined;
      walk(record, type, fields);
    } else if (type === "message") {
      if (typeof message?.role !== "string") {
        bad += 1;
        continue;
      }
      const speaker = ROLES[message.role];
      if (speaker === undefined) count(types, `message/${message.role}`);
      else {
        main[speaker] += 1;
        walk(message, message.role, fields);
        if (Array.isArray(message.content))
          main.toolCalls += message.content.filter((block) => block.type === "toolCall").length;
      }
      walk({ type, message: 0, ...envelope }, "message", fields);
    } else if (type === "custom_message" || record.summary) {
      main.user += 1;
      walk(record, type, fields);
    } else count(types, type);
  }
  return isKnown ? { main, side, types, fields, bad, versions: [] } : null;
}
