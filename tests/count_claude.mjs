// Counts what transcripts of Claude Code hold, straight from their JSON: node count_claude.mjs FILE...
// Prints one line of JSON for each file.
import { readFileSync } from "node:fs";

const isObject = (v) => v !== null && typeof v === "object" && !Array.isArray(v);
const count = (into, key) => (into[key] = (into[key] ?? 0) + 1);

function walk(value, path, fields) {
  if (Array.isArray(value)) {
    for (const item of value) {
      const kind = /(content|prompt)$/.test(path) && isObject(item) ? (item.type ?? "") : "";
      count(fields, `${path}[${kind}]`);
      walk(item, `${path}[${kind}]`, fields);
    }
  } else if (isObject(value)) {
    for (const key of Object.keys(value)) {
      count(fields, `${path}.${key}`);
      walk(value[key], `${path}.${key}`, fields);
    }
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
    if (!isObject(record) || typeof record.type !== "string" || (speaks && typeof content !== "string" && !Array.isArray(content))) {
      bad.push(number);
      continue;
    }
    const sub = record.type === "system" ? record.subtype : record.type === "attachment" ? record.attachment?.type : undefined;
    const type = sub === undefined ? record.type : `${record.type}/${sub}`;
    count(types, queued ? "queued prompt" : type);
    if (speaks || ["summary", "ai-title", "custom-title"].includes(type)) walk(record, type, fields);
    const again = JSON.stringify([record.uuid, record.timestamp, record.message, record.attachment]);
    if (!speaks || (record.uuid !== undefined && seen.has(again))) continue;
    seen.add(again);
    const into = record.isSidechain === true ? side : main;
    const blocks = Array.isArray(content) ? content.filter(isObject) : [{ type: "text", text: content }];
    const of = (...kinds) => blocks.filter((block) => kinds.includes(block.type));
    into.toolCalls += record.type === "assistant" ? of("tool_use").length : 0;
    into.toolResults += record.type === "user" ? of("tool_result").length : 0;
    const answer = `${record.isSidechain === true}/${record.message?.id ?? number}`;
    if (record.type === "assistant") into.assistant += answers.has(answer) ? 0 : 1;
    if (record.type === "assistant") told.push({ ends: into }), answers.add(answer);
    const says = of("text").some((b) => b.text) || of("image", "document").some((b) => b.source?.type === "base64");
    if (record.type === "assistant" || (!says && of("tool_result").length > 0)) continue;
    // A queued prompt may stand again as a record of its own: by its uuid, or by its words before the next answer.
    const one = { into, queued, id: queued ? record.attachment.source_uuid : record.uuid, words: JSON.stringify(blocks) };
    const open = told.slice(told.findLastIndex((other) => other.ends === into) + 1);
    const isTwin = (other) => (one.id && other.id === one.id) || (open.includes(other) && other.words === one.words);
    const twin = told.findIndex((other) => other.into === into && other.queued !== queued && isTwin(other));
    if (twin < 0) into.user += told.push(one) && 1;
    else told.splice(twin, 1);
  }
  return { main, side, types, fields, bad };
}

for (const file of process.argv.slice(2)) console.log(JSON.stringify(tally(file)));
