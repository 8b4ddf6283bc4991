// @ts-check
/** A module of WebAssembly, loaded when it is called first, and made anew after a trap. */

import { LeftoffError } from "../error.js";
import { asset, isHere, ready } from "../host/assets.js";

/** @import { Counter } from "../../pkg/leftoff.js" */

/** What is stored is counted by it, once its vocabulary is loaded; by the other one, which has none, until then. */
const STORED = "o200k_base";
const ESTIMATE = "estimate-1";

/**
 * @template {{ initSync(options: { module: BufferSource | WebAssembly.Module }): unknown, __wbg_reset_state(): void }} Bindings
 */
export class Module {
  #bindings;
  #file;
  /** Who counts there, by the names of their encodings. @type {Map<string, Counter>} */
  #counters = new Map();
  #isLoaded = false;
  /** How often it was made anew. */
  #generation = 0;

  /**
   * @param {Bindings} bindings
   * @param {string} file of pkg/
   */
  constructor(bindings, file) {
    this.#bindings = bindings;
    this.#file = file;
  }

  /** Which instance is at work: what an earlier one made is gone. */
  get instance() {
    return this.#generation;
  }

  /** It can be called at once. */
  get isHere() { return this.#isLoaded || isHere(this.#file); }

  /** Loads its file, where it has to be waited for. */
  ready() { return this.#isLoaded ? undefined : ready(this.#file); }

  /** Its functions, ready to be called. */
  loadBindings() {
    if (!this.#isLoaded) this.#bindings.initSync({ module: asset(this.#file) });
    this.#isLoaded = true;
    return this.#bindings;
  }

  /**
   * Calls it. What it refuses is thrown as it says; a trap is a bug, is reported once, and costs the instance.
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
        // The vocabularies are loaded again when they are wanted.
        this.#counters.clear();
        throw new LeftoffError({ code: "internal", message: "the core failed; please report this with its cause", cause });
      }
      if (cause instanceof Error && cause.message.startsWith("Invalid stale object")) {
        throw new LeftoffError({ code: "internal", message: "the core failed in another call meanwhile; look at what was kept before this one is made again", cause });
      }
      const { code, message, came } = /** @type {{ code?: import("../types/index.js").CoreCode, message?: string, came?: string[] }} */ (cause ?? {});
      if (cause instanceof Error || typeof code !== "string" || typeof message !== "string") throw cause;
      throw new LeftoffError({ code, message, came });
    }
  }

  /** Whether it counts exactly what is stored. */
  get isExact() { return this.#counters.has(STORED); }

  /** Who counts there what is stored; exactly, where it is said so. */
  anyCounter(isExact = this.isExact) { return this.counter(isExact ? STORED : ESTIMATE); }

  /** Who counts there by the encoding of this name, whose vocabulary is here. @param {string} encoding */
  counter(encoding) {
    const known = this.#counters.get(encoding);
    if (known) return known;
    const counter = this.call((bindings) => {
      const { Counter } = /** @type {typeof import("../../pkg/leftoff.js")} */ (/** @type {unknown} */ (bindings));
      return encoding === ESTIMATE ? Counter.estimate() : Counter.fromPlanes(asset(`${encoding}.planes`));
    });
    this.#counters.set(encoding, counter);
    return counter;
  }

  /** The same, whose vocabulary is loaded where it is not here. @param {string} encoding */
  async loadCounter(encoding) {
    if (encoding !== ESTIMATE) await ready(`${encoding}.planes`);
    return this.counter(encoding);
  }

  /**
   * Makes a handle for as long as it is needed. JavaScript collects the few bytes that it sees of a handle late, or never; so
   * whoever makes one calls `free`, also where something was thrown.
   * @template {{ free(): void }} T
   * @param {(bindings: Bindings) => T} make
   * @returns {{ handle: T, free: () => void }}
   */
  createHandle(make) {
    const handle = this.call(make);
    const made = this.#generation;
    let isHeld = true;
    const free = () => {
      // After a trap its memory is another instance's.
      if (isHeld && made === this.#generation) handle.free();
      isHeld = false;
    };
    return { handle, free };
  }
}
