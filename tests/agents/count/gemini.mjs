import { count, document, isObject, zeroCounts, records, walk } from "./walk.mjs";

const list = (content) => (Array.isArray(content) ? content : content == null ? [] : [content]);
const textOf = (content) =>
  list(content)
    .map((p) => (isObject(p) ? (p.thought ? "" : (p.text ?? "")) : p))
    .join("")
    .trim();

// The conversation as it was ever told: a message by its id, a call and a result by the call's.
export function tally(text) {
  const [main, side, fields, types] = [zeroCounts(), zeroCounts(), {}, {}];
  const [users, answers, calls, results, said] = [new Set(), new Set(), new Set(), new Set(), new Set()];
  let live = [],
    bad = 0,
    heads = 0,
    anew = false,
    told = [];

  const result = (part) => {
    results.add(part.functionResponse.id);
  };
  function message(record, inSet) {
    if (record.type !== "user" && record.type !== "gemini") return count(types, record.type);
    walk(record, record.type, fields);
    const parts = list(record.content),
      words = `${record.type} ${textOf(record.content)}`;
    const given = parts.filter((part) => part?.functionResponse),
      own = textOf(record.content);
    if (record.type === "user" && !own.startsWith("<session_context>")) said.add(record.id);
    const known = live.includes(record.id);
    if (!known) live.push(record.id);
    // What is written anew: behind the context that comes again up to the next whole, or a whole under other ids.
    if (!inSet && !known && record.type === "user" && own.startsWith("<session_context>") && told.length > 0)
      anew = true;
    if (anew || (inSet && !known && told.includes(words))) return given.forEach(result);
    told.push(words);
    const key = `${record.id} ${rewinds}`;
    if (record.type === "gemini") {
      answers.add(known ? key0(record.id, answers, key) : key);
      const ids = [
        ...(record.toolCalls ?? []).map((call) => call.id),
        ...parts.flatMap((p) => p?.functionCall?.id ?? []),
      ];
      ids.forEach((id) => calls.add(id));
      for (const call of record.toolCalls ?? []) if (list(call.result).length > 0) results.add(call.id);
    } else {
      given.forEach(result);
      if (given.length === 0 || own !== "") users.add(known ? key0(record.id, users, key) : key);
    }
  }
  let rewinds = 0;
  const key0 = (id, set, key) => [...set].reverse().find((one) => one.startsWith(`${id} `)) ?? key;

  const whole = document(text);
  const head = (record) => {
    heads += 1;
    const { messages, ...rest } = record;
    walk(rest, "session", fields);
    if (messages) count(fields, "session.messages");
    (messages ?? []).forEach((one) => message(one, false));
  };
  if (whole !== undefined && Array.isArray(whole.messages)) {
    if (whole.sessionId === undefined) return null;
    head(whole);
  } else {
    for (const { record } of records(text)) {
      if (record?.$rewindTo !== undefined) {
        walk(record, "$rewindTo", fields);
        rewinds += 1;
        const at = live.indexOf(record.$rewindTo);
        live = live.slice(0, Math.max(at, 0));
      } else if (record?.$set !== undefined) {
        const { messages, ...rest } = record.$set;
        walk({ $set: rest }, "$set", fields);
        if (messages === undefined) continue;
        count(fields, "$set.$set.messages");
        messages.forEach((one) => message(one, true));
        anew = false;
      } else if (typeof record?.type === "string") message(record, false);
      else if (record?.sessionId !== undefined) head(record);
      else bad += 1;
    }
  }
  if (heads === 0) return null;
  Object.assign(main, { user: users.size, assistant: answers.size, toolCalls: calls.size, toolResults: results.size });
  // What the client tells by itself says nothing.
  const isSilent = said.size + answers.size + results.size === 0;
  return { main, side, types, fields, bad, versions: [], isSilent };
}
