// What the counting scripts share: they share nothing with the readers.

export const isObject = (v) => v !== null && typeof v === "object" && !Array.isArray(v);

/** One more of something. */
export const count = (into, key) => (into[key] = (into[key] ?? 0) + 1);

/** Counts each field below `path`; items of arrays are named by their type. */
export function walk(value, path, fields) {
  if (value === null || typeof value !== "object") return;
  for (const [key, item] of Object.entries(value)) {
    const kind = isObject(item) && typeof item.type === "string" ? item.type : "";
    const inner = Array.isArray(value) ? `${path}[${kind}]` : `${path}.${key}`;
    count(fields, inner);
    walk(item, inner, fields);
  }
}

/** The lines that hold something, parsed; `undefined` where one is no JSON. */
export function records(text) {
  const parsed = (line) => {
    try {
      return JSON.parse(line);
    } catch {
      return undefined;
    }
  };
  return text
    .replace(/^\uFEFF/, "")
    .split("\n")
    .map((line, number) => ({ number, line: line.trim() }))
    .filter(({ line }) => line !== "")
    .map(({ number, line }) => ({ number, record: parsed(line) }));
}

/** A document, parsed; `undefined` where it is no JSON. */
export function document(text) {
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ""));
  } catch {
    return undefined;
  }
}

export const zeroCounts = () => ({ user: 0, assistant: 0, toolCalls: 0, toolResults: 0, system: 0 });
