import { document, zeroCounts, walk } from "./walk.mjs";

export function tally(text) {
  const session = document(text);
  if (!Array.isArray(session?.messages) || session.createdAt === undefined) return null;
  const [main, side, fields] = [zeroCounts(), zeroCounts(), {}];
  walk(session, "session", fields);
  for (const { role, tool_calls } of session.messages) {
    main[{ tool: "toolResults" }[role] ?? role] += 1;
    main.toolCalls += tool_calls?.length ?? 0;
  }
  return { main, side, types: {}, fields, bad: 0, versions: [] };
}
