// @ts-check
// The files of the package, from where a caller says that they are; and a store that needs nothing of the machine.
// Tries: js/host/load-wasm.js, js/host/fetch-bytes.js, js/wasm/module.js
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import { LeftoffError, loadWasm, modelOf } from "../../js/index.js";
import { nodePath } from "./node-path.js";

const file = (/** @type {string} */ name) => new URL(`../../pkg/${name}`, import.meta.url);
const front = new URL("../../js/index.js", import.meta.url).href;

/**
 * What a call comes to in a process of its own, where nothing is loaded yet.
 * @param {string} code
 * @param {string[]} [options]
 */
const inProcess = (code, options = []) =>
  JSON.parse(
    execFileSync(
      nodePath,
      [
        ...options,
        "--input-type=module",
        "-e",
        `import * as leftoff from ${JSON.stringify(front)}; console.log(JSON.stringify(await (async () => { ${code} })()))`,
      ],
      { encoding: "utf8" },
    ),
  );

test("a module that was given is the one that is used", async () => {
  const { size } = inProcess(`
    const given = new WebAssembly.Module(await import("node:fs").then((fs) => fs.readFileSync(${JSON.stringify(fileURLToPath(file("leftoff.wasm")))})));
    let used;
    const { Instance } = WebAssembly;
    WebAssembly.Instance = class extends Instance { constructor(module, imports) { super(module, imports); used = module; } };
    await leftoff.loadWasm({ leftoff: given });
    const { window } = leftoff.modelOf("gpt-4o");
    return { size: used === given ? window : "another one" };`);
  assert.equal(size, 128_000);
});

test("a URL of a file and its bytes do as well", async () => {
  for (const source of [file("leftoff.wasm"), String(file("leftoff.wasm")), readFileSync(file("leftoff.wasm"))]) {
    await loadWasm({ leftoff: source });
    assert.equal(modelOf("gpt-4o")?.window, 128_000);
  }
});

test("what cannot be loaded is refused by its name, and nothing is asked for over a connection", async () => {
  for (const source of [file("nothing.wasm"), "https://example.invalid/leftoff.wasm", new Uint8Array([1, 2, 3])]) {
    await assert.rejects(
      loadWasm({ agents: source }),
      (error) =>
        error instanceof LeftoffError && error.code === "asset_missing" && error.message.includes("agents.wasm"),
    );
  }
  await assert.rejects(loadWasm(/** @type {any} */ ({ core: file("leftoff.wasm") })), { code: "invalid_request" });
  for (const source of [new Response(""), new Blob([]), Promise.resolve(file("agents.wasm")), 7, null]) {
    await assert.rejects(
      loadWasm(/** @type {any} */ ({ agents: source })),
      (/** @type {any} */ { code, message }) =>
        code === "invalid_request" &&
        message.startsWith('expected a URL, bytes or a WebAssembly.Module for "agents", but found ['),
    );
  }
});

test("a policy is blamed for a module alone, not for bytes that are none", async () => {
  const { message } = /** @type {LeftoffError} */ (
    await loadWasm({ agents: new TextEncoder().encode("<!doctype html>") }).catch((error) => error)
  );
  assert.ok(
    message.startsWith("agents.wasm could not be loaded: ") && !message.includes("Content-Security-Policy"),
    message,
  );
});

test("a store with a storage of its own asks for no folder and no program", async () => {
  const counted = inProcess(`
    const { default: fs } = await import("node:fs");
    const { default: child } = await import("node:child_process");
    const { syncBuiltinESMExports } = await import("node:module");
    const asked = [];
    await leftoff.loadWasm();
    for (const [where, name] of [[fs, "realpathSync"], [fs, "lstatSync"], [fs, "mkdirSync"], [child, "spawn"]]) {
      const real = where[name];
      where[name] = (...given) => (asked.push(name), real(...given));
    }
    syncBuiltinESMExports();
    const store = await leftoff.openStore({ storage: new leftoff.MemoryStorage(), project: "/nowhere/at/all" });
    const session = await store.create();
    await session.append({ role: "user", content: "Hello" });
    const listed = await store.list();
    await store.close();
    return { asked, listed: listed.length, project: store.project };`);
  assert.deepEqual(counted, { asked: [], listed: 1, project: resolve("/nowhere/at/all") });
});
