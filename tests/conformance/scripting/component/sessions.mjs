// @ts-check
/** What is done with a session. */

import { refusal } from "../../../component/host.mjs";
import { awaitDone, json, messages, texts } from "./answers.mjs";

/** @import { ScriptedHost } from "./host.mjs" */

/**
 * @typedef {{ host: ScriptedHost, session: any, own: Record<string, (asked: any) => any>, asked: any }} SessionRequest
 */

/**
 * What the component is asked for each operation, and what its answer is in JavaScript.
 * @type {Record<string, (given: SessionRequest) => unknown>}
 */
export const OF_SESSIONS = {
  append: async ({
    host,
    session,
    asked: { messages, format = "", durability = "durable", revives = true, operation, expected },
  }) => {
    const [json, options] = [JSON.stringify(messages), { format, durable: durability === "durable", revives }];
    const isAny = operation !== undefined || expected !== undefined;
    const lines = await host.run(
      isAny
        ? session.appendOnce(json, options, JSON.stringify({ operation, expected }))
        : session.append(json, options),
    );
    const records = lines
      .split("\n")
      .filter(Boolean)
      .map((/** @type {string} */ line) => JSON.parse(line));
    for (const record of records) for (const key of ["v", "crc"]) delete record[key];
    return { acknowledged: durability, records };
  },
  appendTool: async ({ host, session, asked }) => {
    const { lines, ...told } = JSON.parse(await host.run(session.appendTool(JSON.stringify(asked.execution))));
    return told;
  },
  archive: (given) => sayEvents(given, { type: "archived" }),
  brief: ({ host, session, asked }) => json(host.run(session.brief(JSON.stringify(asked)))),
  closeSession: ({ host, session }) => closeSession(host, session),
  compact: ({ host, session, own, asked: { apply, undo, keep, ...request } }) =>
    json(host.run(session.compact(JSON.stringify({ ...contextRequest(request, host), apply, undo, keep })), own)),
  complete: (given) => becomes(given, "completed"),
  context: ({ host, session, own, asked }) =>
    json(host.run(session.context(JSON.stringify(contextRequest(asked, host))), own)),
  export: ({ host, session, asked: { format = "json", allBranches } }) =>
    texts(host, session.export(JSON.stringify({ format, allBranches }))).then((pieces) => pieces.join("")),
  examine: ({ host, session }) => json(host.run(session.examine())),
  flush: ({ host, session }) => awaitDone(host.run(session.flush())),
  lastContext: ({ host, session, own, asked: { full } }) =>
    json(host.run(full ? session.sentContext(false) : session.lastContext(), own)),
  messages: ({ host, session, asked: { most, ...reading } }) =>
    messages(host, session, reading).then((all) => all.slice(0, most)),
  metadata: (given) => redactValue(given, JSON.parse(given.session.metadata())),
  others: ({ host, session }) => json(host.run(session.others())).then((others) => others.length),
  pause: (given) => becomes(given, "paused"),
  pin: (given) => sayEvents(given, { type: "pin", messageId: given.asked.messageId }),
  searchIn: async ({ host, session, asked: { question, most, ...asked } }) => {
    const [request, own] = asking(asked);
    return (await texts(host, session.search(question, request), own))
      .flatMap((page) => JSON.parse(page))
      .slice(0, most);
  },
  pins: ({ host, session }) => json(host.run(session.pins())),
  refresh: ({ host, session }) => awaitDone(host.run(session.refresh())),
  rename: (given) => sayEvents(given, { type: "title", title: given.asked.title }),
  resume: async ({ host, session, own, asked }) => {
    const { override, revives, now, maxBytes, ...request } = asked;
    const about = { override, revives, now, maxBytes };
    const { id, command, block, context, warnings, ...told } = await json(
      host.run(session.resume(JSON.stringify({ ...contextRequest(request, host), ...about })), own),
    );
    return { id, command, block, history: context.messages, warnings, context, ...told };
  },
  setAgent: (given) => sayEvents(given, { type: "agent", agent: given.asked.agent ?? null }),
  state: ({ host, session }) => json(host.run(session.state())),
  stop: (given) => becomes(given, "paused"),
  summaryOf: ({ host, session, asked }) => json(host.run(session.summarize(JSON.stringify(asked)))),
  tools: (given) => json(given.host.run(given.session.tools())).then((all) => redactValue(given, all)),
  unarchive: (given) => sayEvents(given, { type: "unarchived" }),
  unpin: (given) => sayEvents(given, { type: "unpin", messageId: given.asked.messageId }),
  updateAgent: (given) => sayEvents(given, { type: "agent", partial: true, agent: given.asked.agent ?? null }),
};

/** @param {ScriptedHost} host @param {any} session */
export async function closeSession(host, session) {
  // Of what is gone nothing is derived any more.
  await host
    .run(session.close())
    .catch((/** @type {any} */ error) => error.payload?.code === "not_found" || Promise.reject(error));
  host.store.forget(session);
}

/**
 * A value of the session, as it may leave.
 * @template T
 * @param {SessionRequest} given
 * @param {T} value
 * @returns {Promise<T>}
 */
export async function redactValue({ host, session }, value) {
  if (!host.redacts) return value;
  return (await json(host.run(session.out(JSON.stringify(value))))).value ?? value;
}

/** @param {SessionRequest} given @param {object[]} events */
const sayEvents = ({ host, session }, ...events) => awaitDone(host.run(session.say(JSON.stringify(events))));
/** Its tool outputs are there until then. @param {SessionRequest} given @param {string} status */
async function becomes(given, status) {
  const { host, session, asked } = given;
  await sayEvents(given, ...(asked.summary === undefined ? [] : [{ type: "summary", summary: asked.summary }]), {
    type: "status",
    status,
  });
  if (host.store.hasOutputs()) await host.run(host.store.clearOutputs(JSON.stringify({ sessionId: session.id() })));
}

/** Its vectors, as they cross. @param {(texts: string[]) => number[][]} embed */
export function embedding(embed) {
  const numbers = (/** @type {number[]} */ vector) => [
    Buffer.from(Uint32Array.of(vector.length).buffer),
    Buffer.from(Float32Array.from(vector).buffer),
  ];
  return {
    vectors: (/** @type {string[]} */ texts) => {
      try {
        return { tag: "content", val: [{ tag: "bytes", val: Buffer.concat(embed(texts).flatMap(numbers)) }] };
      } catch (/** @type {any} */ error) {
        throw refusal("invalid_request", error.message);
      }
    },
  };
}

/** A request, and how its caller answers for it. @param {any} asked @returns {[string, SessionRequest["own"]]} */
export function asking({ embed, ...request }) {
  return [JSON.stringify({ ...request, ...(embed && { embeds: true }) }), embed ? embedding(embed) : {}];
}

/** A request without what its caller does. @param {any} asked @param {ScriptedHost} host */
function contextRequest({ summarize, count, embed, strategies, ...request }, { redacts }) {
  const named = strategies?.map?.((/** @type {any} */ { name, priority, minTokens }) => ({
    name,
    priority,
    minTokens,
  }));
  return {
    request: { ...request, strategies: named ?? strategies },
    summarizes: summarize !== undefined,
    embeds: embed !== undefined,
    leaves: redacts,
  };
}

/**
 * What its caller does.
 * @param {ScriptedHost} host
 * @param {any} session
 * @param {any} asked
 * @returns {SessionRequest["own"]}
 */
export function callerAnswers(host, session, { summarize, count, embed, strategies }) {
  const text = async (/** @type {() => unknown} */ work) => {
    try {
      return { tag: "text", val: JSON.stringify((await work()) ?? {}) };
    } catch (/** @type {any} */ error) {
      throw error.failure ? error : refusal("invalid_request", error.message);
    }
  };
  const of = {
    async *messages() {
      yield* await messages(host, session, {});
    },
  };
  const uncounted = (/** @type {string} */ encoding) =>
    refusal(
      "no_counter",
      `expected a counter for "${encoding}", but found none: give "count", or an encoding of o200k_base, cl100k_base or estimate-1`,
    );
  return {
    out: (value) => host.run(session.out(value)).then((/** @type {string} */ left) => ({ tag: "text", val: left })),
    counts: ({ encoding, texts }) =>
      text(count ? () => count(texts, encoding) : () => Promise.reject(uncounted(encoding))),
    ...(embed && embedding(embed)),
    ...(summarize && {
      summary: ({ system, user, maxTokens, startMessageId, endMessageId, messageCount, previous }) =>
        text(async () => {
          const asked = [
            { role: "system", content: system },
            { role: "user", content: user },
          ];
          const answer = await summarize({
            messages: asked,
            maxTokens,
            range: { startMessageId, endMessageId, messageCount: Number(messageCount) },
            previous,
          });
          return typeof answer === "string" ? { content: answer } : answer;
        }),
    }),
    strategy: ({ name }) =>
      text(async () => {
        const { messages, includedCount, summarizedCount } =
          (await strategies.find((/** @type {any} */ one) => one.name === name).build(of)) ?? {};
        return { messages, includedCount, summarizedCount };
      }),
  };
}
