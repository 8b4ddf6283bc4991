// @ts-check
/** A WebAssembly module, loaded when first called, and instantiated anew after a trap. */

import { LeftoffError } from "../error.js";
import { asset, isHere, ready } from "../host/assets.js";

/** @import { Counter } from "../../pkg/leftoff.js" */

/**
 * The encodings for stored messages: the first once its vocabulary is loaded, the estimate, which has none, until then.
 */
const STORED_ENCODING = "o200k_base";
const ESTIMATE_ENCODING = "estimate-1";

/**
 * The functions that every module's bindings have.
 * @typedef {object} ModuleBindings
 * @property {(options: { module: BufferSource | WebAssembly.Module }) => unknown} initSync
 * @property {() => void} __wbg_reset_state
 */
/** @template {ModuleBindings} Bindings */
export class Module {
  #bindings;
  #file;
  /** The module's counters by encoding. @type {Map<string, Counter>} */
  #counters = new Map();
  #isLoaded = false;
  /** How often it was instantiated anew. */
  #generation = 0;

  /**
   * @param {Bindings} bindings
   * @param {string} file of pkg/
   */
  constructor(bindings, file) {
    this.#bindings = bindings;
    this.#file = file;
  }

  /** The number of the running instance: what an earlier one made is gone. */
  get instance() {
    return this.#generation;
  }

  /** Whether it can be called without waiting. */
  get isHere() {
    return this.#isLoaded || isHere(this.#file);
  }

  /** Loads its file, unless it is loaded. */
  ready() {
    return this.#isLoaded ? undefined : ready(this.#file);
  }

  /** Its functions, ready to be called. */
  loadBindings() {
    if (!this.#isLoaded) this.#bindings.initSync({ module: asset(this.#file) });
    this.#isLoaded = true;
    return this.#bindings;
  }

  /**
   * Calls the module. Its errors are thrown as they are; a trap is a bug, is reported once, and costs the instance.
   * @template T
   * @param {(bindings: Bindings) => T} call
   * @returns {T}
   */
  call(call) {
    try {
      return call(this.loadBindings());
    } catch (cause) {
      if (cause instanceof WebAssembly.RuntimeError) {
        this.#bindings.__wbg_reset_state();
        this.#generation += 1;
        // Vocabularies are loaded again when needed.
        this.#counters.clear();
        throw new LeftoffError({
          code: "internal",
          message: "the core failed; please report this with its cause",
          cause,
        });
      }
      if (cause instanceof Error && cause.message.startsWith("Invalid stale object")) {
        throw new LeftoffError({
          code: "internal",
          message: "the core failed in another call meanwhile; look at what was kept before this one is made again",
          cause,
        });
      }
      const { code, message, came } =
        /** @type {{ code?: import("../types/index.js").CoreCode, message?: string, came?: string[] }} */ (cause ?? {});
      if (cause instanceof Error || typeof code !== "string" || typeof message !== "string") throw cause;
      throw new LeftoffError({ code, message, came });
    }
  }

  /** Whether stored messages are counted exactly. */
  get isExact() {
    return this.#counters.has(STORED_ENCODING);
  }

  /** The counter of stored messages, exact or not. */
  anyCounter(isExact = this.isExact) {
    return this.counter(isExact ? STORED_ENCODING : ESTIMATE_ENCODING);
  }

  /** The counter of an encoding whose vocabulary is loaded. @param {string} encoding */
  counter(encoding) {
    const known = this.#counters.get(encoding);
    if (known) return known;
    const counter = this.call((bindings) => {
      const { Counter } = /** @type {typeof import("../../pkg/leftoff.js")} */ (/** @type {unknown} */ (bindings));
      return encoding === ESTIMATE_ENCODING ? Counter.estimate() : Counter.fromPlanes(asset(`${encoding}.planes`));
    });
    this.#counters.set(encoding, counter);
    return counter;
  }

  /** The counter of an encoding, whose vocabulary is loaded first if needed. @param {string} encoding */
  async loadCounter(encoding) {
    if (encoding !== ESTIMATE_ENCODING) await ready(`${encoding}.planes`);
    return this.counter(encoding);
  }

  /**
   * Makes a handle for as long as it is needed. JavaScript collects the few bytes that it sees of a handle late, or
   * never; so the caller must call `free`, even after an error.
   * @template {{ free(): void }} T
   * @param {(bindings: Bindings) => T} make
   * @returns {{ handle: T, free: () => void }}
   */
  createHandle(make) {
    const handle = this.call(make);
    const made = this.#generation;
    let isHeld = true;
    const free = () => {
      // After a trap its number belongs to another instance's memory.
      if (isHeld && made === this.#generation) handle.free();
      isHeld = false;
    };
    return { handle, free };
  }
}
