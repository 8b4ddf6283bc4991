// @ts-check
/** Stands in for the Claude Agent SDK: asks no model, and calls the store of sessions as the SDK does. */

import { randomUUID } from "node:crypto";

/** @import { ClaudeSessionStore, FoldClaudeSummary } from "leftoff/claude" */

const PROJECT = "-home-ann-project";

/** @type {FoldClaudeSummary} */
export const foldSessionSummary = (summary, { sessionId }, entries) => ({
  sessionId,
  mtime: summary?.mtime ?? 0,
  data: { count: Number(summary?.data.count ?? 0) + entries.length },
});

/** @param {{ prompt: string, options: { sessionStore: ClaudeSessionStore, resume?: string } }} asked */
export async function* query({ prompt, options: { sessionStore, resume } }) {
  const sessionId = resume ?? randomUUID();
  const key = { projectKey: PROJECT, sessionId };
  const before = resume === undefined ? [] : ((await sessionStore.load(key)) ?? []);
  const prompts = before.filter(({ type }) => type === "user").length;
  const result = `After ${prompts} prompts: done.`;
  const said = [
    { role: "user", content: prompt },
    { id: `msg_${prompts}`, role: "assistant", content: [{ type: "text", text: result }] },
  ];
  let parentUuid = before.at(-1)?.uuid ?? null;
  for (const message of said) {
    const entry = {
      type: message.role,
      uuid: randomUUID(),
      parentUuid,
      sessionId,
      timestamp: new Date().toISOString(),
      message,
    };
    await sessionStore.append(key, [entry]);
    parentUuid = entry.uuid;
  }
  yield { type: "result", subtype: "success", result, session_id: sessionId };
}
