// @ts-check
/** Agents' recorded sessions, those of the fixtures, one behind the other as one conversation. */

import { join } from "node:path";
import { openStore } from "../js/index.js";
import { root } from "../scripts/run.mjs";
import { inFolder } from "./tools.mjs";

const AGENTS = ["claude-code", "codex", "gemini", "opencode", "qwen", "pi", "cline", "copilot"];

/** @typedef {import("./replay.mjs").Draft} Draft */

/** @returns {Promise<Draft[]>} */
export function recordedConversation() {
  return inFolder(async (folder) => {
    const store = await openStore({ home: join(folder, "home"), project: folder });
    /** @type {Draft[]} */
    const drafts = [];
    for (const agent of AGENTS) {
      const { imported } = await store.import(join(root, "tests", "fixtures", agent));
      for (const { id } of imported.sort((a, b) => (a.path < b.path ? -1 : 1))) {
        const session = await store.session(id);
        const mark = `${drafts.length}`;
        for await (const message of session.messages()) drafts.push(...draftOf(message, mark));
        await session.close();
      }
    }
    await store.close();
    return drafts;
  });
}

/**
 * A session's calls get ids of their own: the fixtures repeat some.
 * @param {any} message
 * @param {string} mark
 * @returns {Draft[]}
 */
function draftOf({ role, content, assistant, tool }, mark) {
  const idOf = (/** @type {string} */ id) => `${id}_${mark}`;
  if (role === "tool") return [{ role, content, tool: { ...tool, callId: idOf(tool.callId) } }];
  if (role !== "assistant") return role === "user" && content ? [{ role, content }] : [];
  const toolCalls = (assistant?.toolCalls ?? []).map((/** @type {any} */ call) => ({
    id: idOf(call.id),
    name: call.name,
    arguments: call.arguments,
  }));
  // One that was nothing but reasoning or a file has nothing left.
  if (!content && toolCalls.length === 0) return [];
  return [{ role, content, assistant: { model: "gpt-5", toolCalls } }];
}
