// Counts what transcripts of Claude Code hold, straight from their JSON: node count_claude.mjs FILE...
// Prints one line of JSON for each file.
import { readFileSync } from "node:fs";

const isObject = (v) => v !== null && typeof v === "object" && !Array.isArray(v);
const count = (into, key) => (into[key] = (into[key] ?? 0) + 1);

function walk(value, path, fields) {
  if (value === null || typeof value !== "object") return;
  for (const [key, item] of Object.entries(value)) {
    const kind = /(content|prompt)$/.test(path) && isObject(item) ? (item.type ?? "") : "";
    const inner = Array.isArray(value) ? `${path}[${kind}]` : `${path}.${key}`;
    count(fields, inner);
    walk(item, inner, fields);
  }
}

function tally(file) {
  const types = {}, fields = {}, bad = [], seen = new Set(), answers = new Set(), told = [];
  const [main, side] = [0, 0].map(() => ({ user: 0, assistant: 0, toolCalls: 0, toolResults: 0 }));
  for (const [number, line] of readFileSync(file, "utf8").split("\n").entries()) {
    if (line.trim() === "") continue;
    let record = null;
    try { record = JSON.parse(line); } catch { /* counted as bad below */ }
    const queued = record?.attachment?.type === "queued_command" && record.attachment.commandMode === "prompt";
    const content = queued ? record.attachment.prompt : record?.message?.content;
    const speaks = queued || record?.type === "user" || record?.type === "assistant";
    const isSaid = !speaks || typeof content === "string" || Array.isArray(content);
    if (typeof record?.type !== "string" || !isSaid) { bad.push(number); continue; }
    const sub = { system: record.subtype, attachment: record.attachment?.type }[record.type];
    const type = sub === undefined ? record.type : `${record.type}/${sub}`;
    count(types, queued ? "queued prompt" : type);
    if (speaks || ["summary", "ai-title", "custom-title"].includes(type)) walk(record, type, fields);
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
    const one = { into, queued, id: queued ? record.attachment.source_uuid : record.uuid, words: JSON.stringify(blocks) };
    const open = told.slice(told.findLastIndex((other) => other.ends === into) + 1);
    const isTwin = (other) => (one.id && other.id === one.id) || (open.includes(other) && other.words === one.words);
    const twin = told.findIndex((other) => other.into === into && other.queued !== queued && isTwin(other));
    into.user += twin < 0 ? 1 : 0;
    twin < 0 ? told.push(one) : told.splice(twin, 1);
  }
  return { main, side, types, fields, bad };
}

for (const file of process.argv.slice(2)) console.log(JSON.stringify(tally(file)));
