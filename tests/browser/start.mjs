// @ts-check
// What a page begins by: it waits until it is told what to do.

import { early, used } from "./page.mjs";

Object.assign(globalThis, {
  /** In the page itself. @param {string} name of the package, as the page finds it @param {number[]} transcript @param {unknown} expected */
  inPage: async (name, transcript, expected) => {
    const leftoff = await import(name);
    await early(leftoff);
    return used(leftoff, { transcript: new Uint8Array(transcript), expected });
  },
  /** In a module worker. @param {string} name its address @param {number[]} transcript @param {unknown} expected */
  inWorker: (name, transcript, expected) => new Promise((works, fails) => {
    const worker = new Worker(`/tests/worker.mjs?package=${encodeURIComponent(name)}${location.search ? "&strict" : ""}`, { type: "module" });
    worker.onmessage = ({ data }) => (data === "works" ? works(undefined) : fails(new Error(data)));
    worker.onerror = ({ message }) => fails(new Error(message));
    worker.postMessage({ transcript: new Uint8Array(transcript), expected });
  }),
});
document.title = "ready";
