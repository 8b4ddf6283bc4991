// @ts-check
/** The terminal for questions: standard error, so that standard output has nothing but the answer. */

import { Writable } from "node:stream";

/** Whether a person can be asked. @param {Record<string, any>} args */
export function canAsk(args) {
  const { stdin, stderr, env } = process;
  return !args.json && stdin.isTTY === true && stderr.isTTY === true && env.TERM !== "dumb";
}

/**
 * How standard output is shown: `isScreen` where it is a terminal and no agent's client reads it.
 * @param {Record<string, any>} args
 */
export function screenLook(args) {
  const { stdout, env } = process;
  const isScreen = stdout.isTTY === true && env.TERM !== "dumb" && !args.from;
  return { isScreen, columns: stdout.columns || 80, isColored: isScreen && args.color !== false && !env.NO_COLOR };
}

/** A terminal without colors where they are not wanted, and with a size even where the system tells none. */
export class Screen extends Writable {
  #hasColors;
  #resized = () => this.emit("resize");

  /** @param {{ color?: boolean }} args */
  constructor({ color }) {
    super({ decodeStrings: false });
    this.#hasColors = color !== false && !process.env.NO_COLOR;
    process.stderr.on("resize", this.#resized);
  }

  get columns() {
    return process.stderr.columns || 80;
  }

  get rows() {
    return process.stderr.rows || 24;
  }

  /** @param {string} text @param {BufferEncoding} _ @param {() => void} done @override */
  _write(text, _, done) {
    process.stderr.write(this.#hasColors ? text : text.replace(/\u001b\[[\d;]*m/g, ""));
    // Written synchronously: a program started next must not write before this is out.
    done();
  }

  /** @param {Error | null} error @param {(error?: Error | null) => void} done @override */
  _destroy(error, done) {
    process.stderr.off("resize", this.#resized);
    done(error);
  }
}
