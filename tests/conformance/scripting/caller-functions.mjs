// @ts-check
/**
 * What a caller gives as a function, from what a script says of it: models, counters, vectors and strategies of its
 * own.
 */

/** @param {any} asked @param {unknown[]} requests what a model is asked */
export function withCallerFunctions({ summarize, count, embed, strategies, ...asked }, requests) {
  return {
    ...asked,
    ...(summarize && { summarize: model(summarize, requests) }),
    ...(count && { count: counter(count) }),
    ...(embed && { embed: vectors(embed) }),
    ...(strategies && { strategies: Array.isArray(strategies) ? strategies.map(strategy) : strategies }),
  };
}

/**
 * A model: its answers one after another, the last one again and again.
 * @param {{ answers: (string | { content?: string, model?: string } | { throws: string })[] }} of
 * @param {unknown[]} requests
 */
function model({ answers }, requests) {
  return async (/** @type {unknown} */ request) => {
    requests.push(request);
    const answer = /** @type {any} */ (answers[Math.min(requests.length, answers.length) - 1]);
    if (answer?.throws !== undefined) throw new Error(answer.throws);
    return answer;
  };
}

/**
 * A counter: a token for so many bytes; or numbers that are given whatever is asked.
 * @param {{ bytes: number } | { gives: any }} of
 */
function counter(of) {
  if ("gives" in of) return () => of.gives;
  return (/** @type {string[]} */ texts) => texts.map((text) => Math.ceil(Buffer.byteLength(text) / of.bytes));
}

/**
 * A vector of each text: of so many numbers, the last of which tells the order of the texts; or what is given; or
 * nothing, since it throws.
 * @param {{ backward: number } | { gives: any } | { throws: string }} of
 */
function vectors(of) {
  return (/** @type {string[]} */ texts) => {
    if ("throws" in of) throw new Error(of.throws);
    if ("gives" in of) return of.gives;
    // The farther behind a text stands, the nearer it is to the first one.
    return texts.map((_, place) => [1, ...Array(of.backward - 2).fill(0), place === 0 ? 0 : 1 / place]);
  };
}

/** A strategy that takes the newest messages, or gives what it is said to. @param {any} of */
function strategy(of) {
  if (typeof of?.newest !== "number" && of?.gives === undefined && of?.throws === undefined) return of;
  const { newest, gives, throws, ...rest } = of;
  const build = async (/** @type {any} */ session) => {
    if (throws !== undefined) throw new Error(throws);
    if (gives !== undefined) return gives;
    const messages = [];
    for await (const message of session.messages()) messages.push(message);
    return { messages: messages.slice(-newest) };
  };
  return { ...rest, build };
}
