// @ts-check
// A page as a bundler makes it.

import * as leftoff from "leftoff";
import { early, exercisePackage } from "./page.mjs";

Object.assign(globalThis, {
  /** @param {string} _ @param {number[]} transcript @param {unknown} expected */
  inPage: async (_, transcript, expected) => {
    await early(leftoff);
    return exercisePackage(leftoff, { transcript: new Uint8Array(transcript), expected });
  },
});
document.title = "ready";
