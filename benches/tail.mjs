// @ts-check
/** What anyone would write who stores counts: the newest messages of a log that fit a budget, read from its end. */

import fs from "node:fs";

const CHUNK = 64 * 1024;

/** @param {string} path @param {number} budget in tokens */
export function tail(path, budget) {
  const fd = fs.openSync(path, "r");
  /** @type {any[]} */
  const messages = [];
  let [used, bytesRead, rest] = [0, 0, Buffer.alloc(0)];
  const isFull = (/** @type {string} */ line) => {
    if (line === "") return false;
    const message = JSON.parse(line);
    used += message.tokens.count;
    if (used <= budget) messages.push(message);
    return used > budget;
  };
  read: for (let end = fs.fstatSync(fd).size; end > 0;) {
    const chunk = Buffer.allocUnsafe(Math.min(CHUNK, end));
    bytesRead += fs.readSync(fd, chunk, 0, chunk.length, (end -= chunk.length));
    const bytes = Buffer.concat([chunk, rest]);
    let to = bytes.length;
    for (let at; to > 0 && (at = bytes.lastIndexOf(10, to - 1)) >= 0; to = at) {
      if (isFull(bytes.toString("utf8", at + 1, to))) break read;
    }
    rest = bytes.subarray(0, to);
    if (end === 0) isFull(rest.toString());
  }
  fs.closeSync(fd);
  return { messages: messages.reverse(), bytesRead };
}
