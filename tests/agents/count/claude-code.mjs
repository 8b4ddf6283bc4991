import { count, isObject, zeroCounts, records, walk } from "./walk.mjs";

const TOLD = ["summary", "ai-title", "custom-title"];
// What the client says of itself, of its tools and of its limits, and what only the user is shown.
const OF_CLIENT = [
  "agent_listing_delta",
  "auto_mode",
  "auto_mode_exit",
  "batching_reminder_sent",
  "budget_usd",
  "command_permissions",
  "credential_org",
  "date",
  "date_change",
  "deferred_tools_delta",
  "deferred_tools_record",
  "dynamic_skill",
  "environment",
  "hook_cancelled",
  "hook_non_blocking_error",
  "hook_system_message",
  "mcp_instructions_delta",
  "model",
  "output_style",
  "prompt_snapshot",
  "remote_session_change",
  "silent_turn_reminder",
  "skill_listing",
  "task_reminder",
  "todo_reminder",
  "token_usage",
  "total_tokens_reminder",
  "ultra_effort_enter",
  "ultra_effort_exit",
];
const WORDS = [
  "content",
  "file",
  "text",
  "snippet",
  "prompt",
  "banner",
  "planContent",
  "blockingError",
  "skills",
  "message",
];

/** Whether words stand in it, or a picture. */
function tells(value) {
  if (typeof value === "string") return value !== "";
  if (Array.isArray(value)) return value.some(tells);
  return isObject(value) && (Boolean(value.base64 || value.cells) || WORDS.some((name) => tells(value[name])));
}

/** A command is written by its name. */
const isDelivered = (text, said) =>
  said === text || (text.startsWith("/") && said.includes(`<command-name>${text.split(/\s/)[0]}</command-name>`));
const textOf = (content) => (typeof content === "string" ? content : content.map(({ text = "" }) => text).join("\n"));

export function tally(text) {
  const types = {},
    fields = {},
    seen = new Set(),
    uuids = new Set(),
    answers = new Set(),
    told = [],
    versions = new Set();
  const [main, side] = [zeroCounts(), zeroCounts()];
  const waiting = [];
  let bad = 0,
    speakers = 0;
  for (const { number, record } of records(text)) {
    const queued = record?.attachment?.type === "queued_command" && record.attachment.commandMode === "prompt";
    const content = queued ? record.attachment.prompt : record?.message?.content;
    const talks = record?.type === "user" || record?.type === "assistant";
    const speaks = queued || talks;
    const isSaid = !speaks || typeof content === "string" || Array.isArray(content);
    if (typeof record?.type !== "string" || !isSaid) {
      bad += 1;
      continue;
    }
    speakers += talks ? 1 : 0;
    if (record.type === "queue-operation" && record.operation === "enqueue" && record.sessionId && record.content)
      waiting.push(textOf(record.content));
    // What was queued is said once it was delivered.
    if (record.type === "user")
      waiting.splice(
        0,
        waiting.length,
        ...waiting.filter((text) => !isDelivered(text, textOf(record.message.content))),
      );
    if (/^\d/.test(record.version)) versions.add(record.version);
    const sub = { system: record.subtype, attachment: record.attachment?.type }[record.type];
    const type = sub === undefined ? record.type : `${record.type}/${sub}`;
    const attached = !queued && isObject(record.attachment) && !OF_CLIENT.includes(record.attachment.type);
    if (attached && (tells(record.rendered) || tells(record.attachment))) {
      if (record.uuid === undefined || !uuids.has(record.uuid)) (record.isSidechain === true ? side : main).user += 1;
      uuids.add(record.uuid);
      continue;
    }
    uuids.add(record.uuid);
    if (speaks || TOLD.includes(type)) walk(record, type, fields);
    else count(types, type);
    const again = JSON.stringify([record.uuid, record.timestamp, record.message, record.attachment]);
    if (!speaks || (record.uuid !== undefined && seen.has(again))) continue;
    seen.add(again);
    const into = record.isSidechain === true ? side : main;
    const blocks = Array.isArray(content) ? content.filter(isObject) : [{ type: "text", text: content }];
    const of = (kind) => blocks.filter((block) => block.type === kind);
    into.toolCalls += record.type === "assistant" ? of("tool_use").length : 0;
    into.toolResults += record.type === "user" ? of("tool_result").length : 0;
    const answer = `${record.isSidechain === true}/${record.message?.id ?? number}`;
    if (record.type === "assistant") told.push({ ends: into });
    if (record.type === "assistant" && !answers.has(answer)) into.assistant += answers.add(answer) && 1;
    const says = blocks.some((b) => (b.type === "text" && b.text) || b.source?.type === "base64");
    if (record.type === "assistant" || (!says && of("tool_result").length > 0)) continue;
    // A queued prompt may stand again as a record of its own: by its uuid, or by its words before the next answer.
    const one = {
      into,
      queued,
      id: queued ? record.attachment.source_uuid : record.uuid,
      words: JSON.stringify(blocks),
    };
    const open = told.slice(told.findLastIndex((other) => other.ends === into) + 1);
    const isTwin = (other) => (one.id && other.id === one.id) || (open.includes(other) && other.words === one.words);
    const twin = told.findIndex((other) => other.into === into && other.queued !== queued && isTwin(other));
    into.user += twin < 0 ? 1 : 0;
    // What is said behind a prompt is another answer, whatever its id.
    const asks =
      queued || record.isCompactSummary === true || (record.isMeta !== true && of("tool_result").length === 0);
    if (asks && twin < 0)
      for (const answer of answers) if (answer.startsWith(`${record.isSidechain === true}/`)) answers.delete(answer);
    twin < 0 ? told.push(one) : told.splice(twin, 1);
  }
  main.user += waiting.length;
  return speakers + waiting.length > 0 ? { main, side, types, fields, bad, versions: [...versions] } : null;
}
