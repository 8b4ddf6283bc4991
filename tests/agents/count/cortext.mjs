import { isObject, zeroCounts, records, walk } from "./walk.mjs";

export function tally(text) {
  const [main, side, fields] = [zeroCounts(), zeroCounts(), {}];
  let bad = 0;
  for (const { record } of records(text)) {
    if (!isObject(record) || typeof record.role !== "string") {
      bad += 1;
      continue;
    }
    main[{ tool: "toolResults" }[record.role] ?? record.role] += 1;
    walk(record, "message", fields);
  }
  return main.user > 0 ? { main, side, types: {}, fields, bad, versions: [] } : null;
}
