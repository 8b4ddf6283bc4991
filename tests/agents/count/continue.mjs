import { document, zeroCounts, walk } from "./walk.mjs";

export function tally(text) {
  const session = document(text);
  if (!Array.isArray(session?.history) || session.workspaceDirectory === undefined) return null;
  const [main, side, fields] = [zeroCounts(), zeroCounts(), {}];
  walk(session, "session", fields);
  for (const { message, toolCallStates = [], conversationSummary } of session.history) {
    if (message.role !== "thinking") main[{ tool: "toolResults" }[message.role] ?? message.role] += 1;
    main.toolCalls += message.toolCalls?.length ?? 0;
    main.toolResults += toolCallStates.filter(({ status, output }) => output?.length > 0 || status === "done").length;
    main.user += conversationSummary ? 1 : 0;
  }
  return { main, side, types: {}, fields, bad: 0, versions: [] };
}
