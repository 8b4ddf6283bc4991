import { count, zeroCounts, records, walk } from "./walk.mjs";

const ROLES = {
  "user.message": "user",
  "system.notification": "user",
  "assistant.message": "assistant",
  "system.message": "system",
  "tool.execution_complete": "toolResults",
};

export function tally(text) {
  const types = {},
    fields = {},
    versions = [];
  const [main, side] = [zeroCounts(), zeroCounts()];
  let bad = 0,
    own = 0;
  for (const { record } of records(text)) {
    if (typeof record?.type !== "string") {
      bad += 1;
      continue;
    }
    const { type, data } = record;
    const role = ROLES[type];
    if (role || type === "session.start" || type === "session.usage_record") walk(record, type, fields);
    else count(types, type);
    if (type === "session.start") versions.push(data.copilotVersion);
    if (!role) continue;
    own += 1;
    const into = data.parentToolCallId === undefined ? main : side;
    into[role] += 1;
    into.toolCalls += data.toolRequests?.length ?? 0;
  }
  return own > 0 ? { main, side, types, fields, bad, versions } : null;
}
