// @ts-check
/**
 * What the fake model says, a step for each time that a client goes on with the conversation. Whatever API the client
 * speaks: that one's file says what a request answers, and writes the step.
 */

/**
 * @typedef {{ id: string, name: string, input: Record<string, any> }} Call
 * @typedef {object} Step one answer of the model; without calls it ends the turn
 * @property {string} [reasoning]
 * @property {string} [text]
 * @property {Omit<Call, "id">[]} [calls] asked for at once
 *
 * @typedef {{ id: string, reasoning: string, text: string, calls: Call[] }} Answer a step, with ids
 *
 * @typedef {object} Asked what a request says, of which API ever
 * @property {boolean} isMain the conversation itself; not a title, a summary or a count
 * @property {Set<string>} answered the calls whose results it holds
 * @property {string[]} said the texts of the assistant that it holds
 */

export class Script {
  #steps;
  /** @type {Answer | null} */
  #last = null;
  #taken = 0;

  /** @param {Step[]} steps */
  constructor(steps) {
    this.#steps = steps;
  }

  /** How many steps were taken. */
  get taken() {
    return this.#taken;
  }

  get length() {
    return this.#steps.length;
  }

  /** What stands next, without taking it. */
  get next() {
    return this.#steps[this.#taken];
  }

  /**
   * The answer to a request. One that does not know the last answer yet is the same request again, and gets the same.
   * @param {Asked} asked
   * @returns {Answer}
   */
  answer({ isMain, answered, said }) {
    if (!isMain) return { id: "aside", reasoning: "", text: "Aside.", calls: [] };
    const last = this.#last;
    if (last && !(last.calls.length > 0 ? last.calls.every(({ id }) => answered.has(id)) : said.includes(last.text))) return last;
    const step = this.#steps[this.#taken];
    if (!step) return { id: "end", reasoning: "", text: "The script is at its end.", calls: [] };
    const number = (this.#taken += 1);
    const { reasoning = "", text = "", calls = [] } = step;
    this.#last = { id: `step${number}`, reasoning, text, calls: calls.map((call, place) => ({ ...call, id: `step${number}c${place}` })) };
    return this.#last;
  }
}
