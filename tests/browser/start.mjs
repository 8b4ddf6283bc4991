// @ts-check
// What a page begins by: it waits until it is told what to do.

import { early, readOf, exercisePackage } from "./page.mjs";

Object.assign(globalThis, {
  /**
   * In the page itself.
   * @param {string} name of the package, as the page finds it
   * @param {number[]} transcript
   * @param {unknown} expected
   */
  inPage: async (name, transcript, expected) => {
    const leftoff = await import(name);
    await early(leftoff);
    return exercisePackage(leftoff, { transcript: new Uint8Array(transcript), expected });
  },
  /**
   * The same with the files that the page says.
   * @param {string} name
   * @param {number[]} transcript
   * @param {unknown} expected
   */
  inSlimPage: async (name, transcript, expected) => {
    const leftoff = await import(name);
    const refused = await leftoff.countTokens("hello world").catch((/** @type {any} */ error) => error.code);
    if (refused !== "asset_missing") throw new Error(`expected leftoff/slim to bring nothing, but found ${refused}`);
    const file = (/** @type {string} */ name) => new URL(`/package/pkg/${name}`, location.href);
    await leftoff.loadWasm({
      context: file("context.wasm"),
      reader: file("reader.wasm"),
      o200k_base: String(file("o200k_base.planes")),
    });
    const read = await readOf(leftoff.readTranscript, new Blob([new Uint8Array(transcript)]));
    if (JSON.stringify(read) !== JSON.stringify(expected))
      throw new Error("expected of the small modules what Node reads, but found something else");
    const [leftoffModule, cl100k] = await Promise.all([
      WebAssembly.compileStreaming(fetch(file("leftoff.wasm"))),
      fetch(file("cl100k_base.planes")).then((answer) => answer.arrayBuffer()),
    ]);
    await leftoff.loadWasm({
      leftoff: leftoffModule,
      agents: file("agents.wasm"),
      o200k_base: String(file("o200k_base.planes")),
      cl100k_base: cl100k,
    });
    return exercisePackage(leftoff, { transcript: new Uint8Array(transcript), expected });
  },
  /** In a module worker. @param {string} name its address @param {number[]} transcript @param {unknown} expected */
  inWorker: (name, transcript, expected) =>
    new Promise((works, fails) => {
      const worker = new Worker(
        `/tests/worker.mjs?package=${encodeURIComponent(name)}${location.search ? "&strict" : ""}`,
        { type: "module" },
      );
      worker.onmessage = ({ data }) => (data === "works" ? works(undefined) : fails(new Error(data)));
      worker.onerror = ({ message }) => fails(new Error(message));
      worker.postMessage({ transcript: new Uint8Array(transcript), expected });
    }),
  /**
   * In a service worker.
   * @param {string} name its own address
   * @param {number[]} transcript
   * @param {unknown} expected
   */
  inService: async (name, transcript, expected) => {
    await navigator.serviceWorker.register(name, { type: "module" });
    const { active } = await navigator.serviceWorker.ready;
    const { port1, port2 } = new MessageChannel();
    const said = new Promise((told) => (port1.onmessage = ({ data }) => told(data)));
    active?.postMessage({ transcript: new Uint8Array(transcript), expected }, [port2]);
    const answer = await said;
    if (answer !== "works") throw new Error(String(answer));
  },
});
document.title = "ready";
