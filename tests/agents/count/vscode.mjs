import { count, document, isObject, records, walk, zeroCounts } from "./walk.mjs";
import { tally as tallyEvents } from "./copilot.mjs";

const TALK = [undefined, "markdownContent", "markdownVuln", "inlineReference", "thinking", "toolInvocationSerialized"];
const PATH = "session.requests[]";

/** Applies a log's changes; what a change takes out of the list of requests is kept in `gone`. */
function replay(lines, gone) {
  let state;
  for (const { kind, k, v, i } of lines) {
    if (kind === 0) state = structuredClone(v);
    else {
      const parent = k.slice(0, -1).reduce((value, step) => value[step], state);
      const last = k.at(-1);
      if (kind === 1) parent[last] = v;
      else if (kind === 3) delete parent[last];
      else {
        parent[last] ??= [];
        const cut = parent[last].splice(i ?? Infinity);
        if (k.length === 1 && last === "requests") gone.push(...cut);
        parent[last].push(...(v ?? []));
      }
    }
  }
  return state;
}

export function tally(text) {
  const lines = records(text).map(({ record }) => record);
  if (lines.some((line) => line?.type === "session.start" && line.data.vscodeVersion)) return tallyEvents(text);
  const gone = [];
  const isLog = lines[0]?.kind === 0;
  const chat = isLog ? replay(lines.filter(isObject), gone) : document(text);
  if (!Array.isArray(chat?.requests) || !chat.responderUsername) return null;
  const [main, side, types, fields, versions] = [zeroCounts(), zeroCounts(), {}, {}, []];
  const requests = [...chat.requests, ...gone];
  walk({ ...chat, requests: chat.requests.map(withoutSilentParts) }, "session", fields);
  for (const request of gone) walk(withoutSilentParts(request), PATH, fields);
  for (const request of requests) {
    const { agent, response = [], result } = request;
    if (agent?.extensionId?._lower === "github.copilot-chat") versions.push(agent.extensionVersion);
    main.user += 1;
    const data = result?.metadata ?? {};
    const rounds = roundsOf(result);
    for (const round of rounds) {
      main.assistant += 1;
      main.toolCalls += round.toolCalls.length;
      main.toolResults += round.toolCalls.filter(({ id }) => data.toolCallResults?.[id]).length;
      main.user += (data.summaries ?? []).filter(({ toolCallRoundId }) => toolCallRoundId === round.id).length;
    }
    if (rounds.length === 0) tallyParts(response, main, types);
  }
  return { main, side, types, fields, bad: 0, versions, isSilent: requests.length === 0 };
}

const roundsOf = (result) =>
  (result?.metadata?.toolCallRounds ?? []).filter((one) => one.response || one.toolCalls.length || one.thinking);

const isTalk = ({ kind, subAgentInvocationId: agent }) => TALK.includes(kind) && !agent;

/** A request without the parts that become nothing. */
function withoutSilentParts(request) {
  return roundsOf(request.result).length > 0 ? request : { ...request, response: request.response?.filter(isTalk) };
}

function tallyParts(response, main, types) {
  // Words behind a call are another answer.
  let last;
  for (const part of response) {
    const { kind, value } = part;
    if (!isTalk(part)) count(types, kind);
    else if (kind !== "thinking" || value?.length > 0) {
      const isCall = kind === "toolInvocationSerialized";
      if (last === undefined || (last === "call" && !isCall)) main.assistant += 1;
      last = isCall ? "call" : "words";
      main.toolCalls += isCall ? 1 : 0;
      main.toolResults += isCall ? 1 : 0;
    }
  }
}
