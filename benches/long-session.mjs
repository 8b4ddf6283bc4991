// @ts-check
/** A long session in the formats that the viewer opens: in a store, as leftoff's one file, and as Claude Code's log. */

import { createHash } from "node:crypto";
import { createWriteStream, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { finished } from "node:stream/promises";
import { openStore } from "../js/index.js";
import { conversation } from "./conversation.mjs";

const BATCH = 1000;
/** Longer results are cut, so that 100,000 messages have some 80 MB. */
const MAX_RESULT_CHARACTERS = 700;
const SESSION_ID = "11111111-1111-4111-8111-111111111111";
const START_MS = Date.UTC(2026, 0, 1);

/** @typedef {{ path: string, megabytes: number }} SizedFile */
/** @typedef {{ home: string, id: string, leftoff: SizedFile, claude: SizedFile }} LongSession `id`: in the home's store */

/**
 * Makes the same conversation in all formats.
 * @param {string} folder @param {number} count of messages
 * @param {string} last what only the last message has
 * @returns {Promise<LongSession>}
 */
export async function makeLongSession(folder, count, last) {
  const drafts = takeDrafts(count, last);
  const home = join(folder, "home");
  const store = await openStore({ home, project: folder, countTokens: false });
  const session = await store.create({ title: "A long session" });
  for (let at = 0; at < count; at += BATCH)
    await session.append(drafts.slice(at, at + BATCH), { durability: "buffered" });
  const [ownPath, claudePath] = [join(folder, "session.leftoff"), join(folder, `${SESSION_ID}.jsonl`)];
  writeFileSync(ownPath, await session.export("leftoff"));
  await store.close();
  await writeClaudeLog(claudePath, drafts);
  return { home, id: session.id, leftoff: toSizedFile(ownPath), claude: toSizedFile(claudePath) };
}

/** @param {string} path @returns {SizedFile} */
const toSizedFile = (path) => ({ path, megabytes: statSync(path).size / 1e6 });

/** @param {number} count @param {string} last @returns {any[]} */
function takeDrafts(count, last) {
  const all = conversation();
  const drafts = Array.from({ length: count - 1 }, () => {
    const draft = /** @type {import("./conversation.mjs").Draft} */ (all.next().value);
    return draft.tool ? { ...draft, content: draft.content.slice(0, MAX_RESULT_CHARACTERS).toWellFormed() } : draft;
  });
  return [...drafts, { role: "user", content: last }];
}

/** @param {string} path @param {any[]} drafts */
async function writeClaudeLog(path, drafts) {
  const file = createWriteStream(path);
  /** @type {string | null} */
  let parentUuid = null;
  for (const [place, draft] of drafts.entries()) {
    const uuid = uuidAt(place);
    const timestamp = new Date(START_MS + place * 1000).toISOString();
    const line = { parentUuid, isSidechain: false, cwd: "/project", sessionId: SESSION_ID, version: "2.1.329", uuid };
    file.write(`${JSON.stringify({ ...line, timestamp, ...toClaude(draft, place) })}\n`);
    parentUuid = uuid;
  }
  file.end();
  await finished(file);
}

/** @param {number} place */
function uuidAt(place) {
  const hash = createHash("sha256").update(String(place)).digest("hex");
  return `${hash.slice(0, 8)}-${hash.slice(8, 12)}-4${hash.slice(13, 16)}-8${hash.slice(17, 20)}-${hash.slice(20, 32)}`;
}

/** What a line says, as Claude Code has it. @param {any} draft @param {number} place */
function toClaude({ role, content, assistant, tool }, place) {
  if (role !== "assistant")
    return {
      type: "user",
      message: {
        role: "user",
        content: tool ? [{ type: "tool_result", tool_use_id: tool.callId, content, is_error: false }] : content,
      },
    };
  const calls = (assistant.toolCalls ?? []).map((/** @type {any} */ call) => ({
    type: "tool_use",
    id: call.id,
    name: call.name,
    input: JSON.parse(call.arguments),
  }));
  return {
    type: "assistant",
    requestId: `req_${place}`,
    message: {
      id: `msg_${place}`,
      type: "message",
      role,
      model: "claude-sonnet-5-5",
      content: [...(content ? [{ type: "text", text: content }] : []), ...calls],
      stop_reason: calls.length > 0 ? "tool_use" : "end_turn",
      usage: { input_tokens: 10, output_tokens: 100, cache_read_input_tokens: 1000 },
    },
  };
}
