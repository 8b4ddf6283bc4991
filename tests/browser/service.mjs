// @ts-check
// The same in a service worker, as an extension's background is: it may import nothing later, and is given all files
// before.

import { exercisePackage } from "./page.mjs";

/** @param {typeof import("../../js/index.js")} leftoff */
export function answers(leftoff) {
  const file = (/** @type {string} */ name) => new URL(`/package/pkg/${name}`, location.href);
  addEventListener("message", ({ data, ports: [port] }) => {
    const sources = {
      leftoff: file("leftoff.wasm"),
      agents: file("agents.wasm"),
      o200k_base: file("o200k_base.planes"),
      cl100k_base: file("cl100k_base.planes"),
    };
    const answer = leftoff
      .loadWasm(sources)
      .then(() => exercisePackage(leftoff, data))
      .then(
        () => "works",
        (error) => String(error.stack),
      );
    answer.then((said) => port?.postMessage(said));
  });
}
