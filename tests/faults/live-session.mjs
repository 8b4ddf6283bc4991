// @ts-check
/** A session of OpenCode that grows, for suites that record it. */

export const SOURCE = { agent: "opencode", id: "ses_live" };
const START_MS = 1_790_000_000_000;
/** How many words an answer has. */
const WORDS = 60;
/** In how many states it is recorded before it is whole. */
const STATES = 3;

/** A prompt, or the answer to it. @param {number} place */
export function messageAt(place) {
  const id = `msg_${String(place).padStart(6, "0")}`;
  const created = START_MS + place * 1000;
  const of = { sessionID: SOURCE.id, messageID: id };
  const isPrompt = place % 2 === 0;
  const text = isPrompt ? `Question ${place}?` : `Answer ${place}. ${"word ".repeat(WORDS)}`;
  const info = isPrompt
    ? { id, sessionID: SOURCE.id, role: "user", time: { created } }
    : {
        id,
        sessionID: SOURCE.id,
        role: "assistant",
        modelID: "gpt-5",
        finish: "stop",
        time: { created, completed: created + 9 },
      };
  return { info, parts: [{ id: `prt_${place}`, ...of, type: "text", text }] };
}

/** What a message is before it is whole, and that. @param {ReturnType<typeof messageAt>} message */
export function* statesOf({ info, parts }) {
  const [part] = parts;
  if (part && info.role === "assistant") {
    const { created } = info.time;
    for (let state = 1; state < STATES; state += 1) {
      const text = part.text.slice(0, Math.floor((part.text.length * state) / STATES));
      yield { info: { ...info, finish: undefined, time: { created } }, parts: [{ ...part, text }] };
    }
  }
  yield { info, parts };
}

/** All of it, as OpenCode exports it. @param {number} count */
export function exportOf(count) {
  return {
    info: { id: SOURCE.id, time: { created: START_MS } },
    messages: Array.from({ length: count }, (_, place) => messageAt(place)),
  };
}
