// @ts-check
/** Answers in pieces: a client has to join them. */

/** @param {string} text @returns {[string, string]} */
export function halves(text) {
  const half = text.length >> 1;
  return [text.slice(0, half), text.slice(half)];
}

/** Events that are named, and say their names again. @param {[type: string, event: object][]} events */
export function namedEvents(events) {
  return events.map(([type, event]) => `event: ${type}\ndata: ${JSON.stringify({ type, ...event })}\n\n`);
}

/** Events without a name. @param {(object | string)[]} events a string stands as it is */
export function unnamedEvents(events) {
  return events.map((event) => `data: ${typeof event === "string" ? event : JSON.stringify(event)}\n\n`);
}
