// @ts-check
/** Time and chance of a script: each step has a time of its own, a second after the one before. */

import { createHash } from "node:crypto";

import { setClock } from "../../../js/wasm/clock.js";

const START = "2026-03-01T09:00:00.000Z";
const STEP_MS = 1000;
const OFFSET_MINUTES = 60;

export class Stamps {
  #seed;
  #step = 0;
  #draws = 0;

  /** @param {string} seed @param {string} [start] */
  constructor(seed, start = START) {
    this.#seed = seed;
    this.startMs = Date.parse(start);
    this.ms = this.startMs - STEP_MS;
    setClock({
      now: () => this.ms,
      ticks: () => this.ms,
      offsetMinutes: () => OFFSET_MINUTES,
      entropy: () => this.#entropy(),
    });
  }

  /** The next step begins. */
  step() {
    this.ms += STEP_MS;
    this.#step += 1;
    this.#draws = 0;
  }

  /** Time goes by. @param {number} ms */
  wait(ms) {
    this.ms += ms;
  }

  /** The same for a host that draws its chance itself: of the hash of `<seed>/<how often>`. */
  currentStamp() {
    return { ms: this.ms, offsetMinutes: OFFSET_MINUTES, seed: `${this.#seed}/${this.#step}` };
  }

  /** The time is the machine's again. */
  end() {
    setClock();
  }

  #entropy() {
    this.#draws += 1;
    return new Uint8Array(createHash("sha256").update(`${this.#seed}/${this.#step}/${this.#draws}`).digest());
  }
}
