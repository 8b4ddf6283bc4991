import { count, document, isObject, zeroCounts, walk } from "./walk.mjs";

const list = (value) => (Array.isArray(value) ? value : []);

export function tally(text) {
  const whole = document(text);
  if (!Array.isArray(whole?.messages) || typeof whole.info?.id !== "string") return null;
  const [main, side, fields, types] = [zeroCounts(), zeroCounts(), {}, {}];
  for (const key of Object.keys(whole)) count(fields, `export.${key}`);
  walk(whole.info, "session", fields);
  for (const message of whole.messages) {
    const role = message.info?.role;
    if (role !== "user" && role !== "assistant") {
      count(types, role);
      continue;
    }
    for (const key of Object.keys(message)) count(fields, `message.${key}`);
    walk(message.info, role, fields);
    walk(message.parts, "message.parts", fields);
    const parts = list(message.parts).filter(isObject);
    const tools = parts.filter((part) => part.type === "tool");
    main.toolCalls += tools.length;
    main.toolResults += tools.filter(({ state }) => (state?.output ?? state?.error) !== undefined).length;
    main[role] += role === "user" ? voices(parts) : steps(parts);
  }
  // What was taken back ends with a message that says so.
  const { messageID, partID } = whole.info.revert ?? {};
  const at = whole.messages.findIndex(({ info }) => info?.id === messageID);
  if (at > 0 || (at === 0 && partID !== undefined)) main.user += 1;
  return {
    main,
    side,
    types,
    fields,
    bad: 0,
    versions: [whole.info.version].filter((version) => /^\d+\.\d+\.\d+$/.test(version)),
  };
}

/** How many voices there are among what is said. */
function voices(parts) {
  const said = parts.filter((part) => part.text || part.prompt || (part.type === "file" && !/^https?:/.test(part.url)));
  return new Set(
    said.map(({ type, synthetic, ignored }) => (type === "file" ? "" : `${synthetic ? "s" : ""}${ignored ? "i" : ""}`)),
  ).size;
}

/** How many pieces with something in them the beginnings of steps cut the parts into. */
function steps(parts) {
  const cut = parts
    .map(({ type }) => (type === "step-start" ? "|" : /^(text|reasoning|tool|file)$/.test(type) ? "x" : ""))
    .join("");
  return cut.split("|").filter((step) => step !== "").length;
}
