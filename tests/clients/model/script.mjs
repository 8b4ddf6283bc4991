// @ts-check
/**
 * What the fake model says, a step for each time that a client goes on with the conversation. Whatever API the client
 * speaks: that one's file says what a request answers, and writes the step.
 */

/** @import { Turn } from "./turns.mjs" */

/**
 * @typedef {{ id: string, name: string, input: Record<string, any> }} Call
 * @typedef {object} Step one answer of the model; without calls it ends the turn
 * @property {string} [reasoning]
 * @property {string} [text]
 * @property {Omit<Call, "id">[]} [calls] asked for at once
 *
 * @typedef {{ id: string, reasoning: string, text: string, calls: Call[] }} Answer a step, with ids
 */

export class Script {
  #steps;
  #name;
  /** @type {Answer | null} */
  #last = null;
  #taken = 0;

  /**
   * @param {Step[]} steps
   * @param {{ name?: string }} [options] what its ids begin with: two scripts for one conversation have a name each
   */
  constructor(steps, { name = "step" } = {}) {
    this.#steps = steps;
    this.#name = name;
  }

  /** How many steps were taken. */
  get takenCount() {
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
   * @param {{ isMain: boolean, turns: Turn[] }} asked of which API ever
   * @returns {Answer}
   */
  answer({ isMain, turns }) {
    if (!isMain) return { id: "aside", reasoning: "", text: "Aside.", calls: [] };
    if (this.#last && !knows(turns, this.#last)) return this.#last;
    const step = this.#steps[this.#taken];
    if (!step) return { id: "end", reasoning: "", text: "The script is at its end.", calls: [] };
    const number = (this.#taken += 1);
    const { reasoning = "", text = "", calls = [] } = step;
    this.#last = {
      id: `${this.#name}${number}`,
      reasoning,
      text,
      calls: calls.map((call, place) => ({ ...call, id: `${this.#name}${number}c${place}` })),
    };
    return this.#last;
  }
}

/** Whether a conversation goes on from an answer. @param {Turn[]} turns @param {Answer} answer */
function knows(turns, { text, calls }) {
  if (calls.length === 0) return turns.some((turn) => turn.role === "assistant" && turn.text === text);
  const answered = new Set(turns.flatMap(({ results = [] }) => results.map(({ id }) => id)));
  return calls.every(({ id }) => answered.has(id));
}
