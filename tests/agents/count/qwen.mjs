import { count, zeroCounts, records, walk } from "./walk.mjs";

// Several objects in one line, split where one ends and the next begins.
function split(line) {
  const parts = line.replaceAll("}{", "}\n{").split("\n");
  const read = [];
  for (let text = "", i = 0; i < parts.length; i += 1) {
    text += parts[i];
    try {
      read.push(JSON.parse(text));
      text = "";
    } catch {
      if (i === parts.length - 1) return undefined;
    }
  }
  return read;
}

export function tally(text) {
  const types = {},
    fields = {},
    versions = new Set(),
    answers = new Set();
  const [main, side] = [zeroCounts(), zeroCounts()];
  let bad = 0,
    speakers = 0;
  const lines = text
    .replace(/^\uFEFF/, "")
    .split("\n")
    .filter((line) => line.trim() !== "");
  const all = records(text).flatMap(({ record }, i) => record ?? split(lines[i]) ?? [undefined]);
  for (const record of all) {
    if (typeof record?.type !== "string") {
      bad += 1;
      continue;
    }
    const type = record.type === "system" && record.subtype ? `system/${record.subtype}` : record.type;
    const speaks = ["user", "assistant", "tool_result"].includes(type);
    if (speaks || type === "system/custom_title") walk(record, type, fields);
    else {
      count(types, type);
      continue;
    }
    if (!speaks) continue;
    speakers += 1;
    if (/^\d/.test(record.version)) versions.add(record.version);
    const into = record.isSidechain === true ? side : main;
    const parts = record.message?.parts ?? [];
    if (type === "assistant") {
      into.assistant += answers.has(record.uuid) ? 0 : 1;
      answers.add(record.uuid);
      into.toolCalls += parts.filter((part) => part.functionCall).length;
    } else if (type === "tool_result") into.toolResults += parts.filter((part) => part.functionResponse).length;
    else into.user += 1;
  }
  return speakers > 0 ? { main, side, types, fields, bad, versions: [...versions] } : null;
}
