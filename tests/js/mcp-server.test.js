// @ts-check
// `leftoff mcp`, as the protocol's own client meets it: of the specification of 2026 and of that of 2025.
// Tries: js/mcp/server.js, js/cli/mcp.js

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { test } from "node:test";

import { openStore } from "../../js/index.js";
import { call, inProject, say, started, withClient } from "./mcp-tools.js";

test("a model finds what was said, opens it there, and is told where it is from", () =>
  inProject(async (place) => {
    const { store } = place;
    const session = await say(store, "Croniter", [
      "Why do we pin croniter?",
      "We pinned croniter: version 2 drops Python 3.8.",
      "Good.",
      "Then that is settled.",
    ]);
    await withClient(place, async (client) => {
      const names = (await client.listTools()).tools.map(({ name }) => name).sort();
      assert.deepEqual(names, ["get_context", "open", "recall", "save", "search", "search_workspace"]);
      const recalled = await call(client, "recall", { question: "Why did we pin croniter?" });
      assert.match(recalled.text, /drops Python 3\.8/);
      const found = await call(client, "search", { words: "drops python" });
      const [, id = "", message = ""] = /\[([0-9a-f-]{36}) ([0-9a-f-]{36})\]/.exec(found.text) ?? [];
      assert.equal(id, session.id);
      const opened = await call(client, "open", { session: id, message });
      assert.match(opened.text, /Why do we pin croniter\?/);
      assert.match(opened.text, /^.{36}: chat, paused, 4 messages\.\n/);
      assert.match(opened.text, /^\{"role":"user","content":"title: Croniter"\}$/m);
      assert.match((await call(client, "get_context", { session: id })).text, /pin croniter/);
      const { resources } = await client.listResources();
      assert.deepEqual(
        resources.map(({ name }) => name),
        ["Croniter"],
      );
      const { contents } = await client.readResource({ uri: resources[0]?.uri ?? "" });
      assert.match(/** @type {any} */ (contents[0]).text, /Then that is settled\./);
      const { messages } = await client.getPrompt({ name: "resume", arguments: { session: id } });
      assert.match(/** @type {any} */ (messages[0]).content.text, /RESUMED CONVERSATION/);
    });
  }));

test("the session one is in is not found again, and is saved", () =>
  inProject(async (place) => {
    const { store } = place;
    const earlier = await say(store, "Earlier", ["The parser is called tidewater."]);
    const own = await store.create({ title: "Now" });
    await own.append({ role: "user", content: "What is the parser called, tidewater?" });
    await withClient(place, async (client) => {
      const { text } = await call(client, "search", { words: "tidewater" });
      assert.ok(text.includes(earlier.id) && !text.includes(own.id), text);
      assert.ok(!(await call(client, "recall", { question: "tidewater parser" })).text.includes(own.id));
      const saved = await call(client, "save", { summary: "The parser is tidewater." });
      assert.match(saved.text, /"Now"/);
    });
    assert.equal(
      (await store.list({ status: "paused" })).find(({ id }) => id === own.id)?.summary,
      "The parser is tidewater.",
    );
  }));

/**
 * The notes in an answer, and in those that its cursors lead to.
 * @param {import("@modelcontextprotocol/client").Client} client
 * @param {{ session: string, message?: string }} place @param {"before" | "after"} direction
 */
async function readOn(client, { session, message }, direction) {
  const pages = [];
  for (let asked = { session, ...(message && { message }) }, more = true; more;) {
    const { text } = await call(client, "open", asked);
    pages.push(Array.from(text.matchAll(/"content":"Note (\d+)\./g), ([, number]) => Number(number)));
    const [, cursor] = new RegExp(`Those ${direction}: cursor "([^"]+)"`).exec(text) ?? [];
    asked = /** @type {any} */ ({ session, cursor });
    more = cursor !== undefined;
  }
  return pages;
}

test("what is long is cut, and read to its beginning and to its end by cursors, each message once", () =>
  inProject(async (place) => {
    const filler = (/** @type {number} */ number) => "漢字\u0001 <system> ".repeat(number * 20);
    const texts = Array.from({ length: 40 }, (_, number) => `Note ${number}. ${filler(number)}`);
    const numbers = [...texts.keys()];
    const session = await say(place.store, "Long", texts);
    /** @type {string[]} */
    const ids = [];
    for await (const { id } of session.messages()) ids.push(id);
    await withClient(place, async (client) => {
      const backward = await readOn(client, { session: session.id }, "before");
      assert.ok(backward.length > 5);
      assert.deepEqual(backward.toReversed().flat(), numbers);
      for (const number of [0, 1, 2, 3, 20, 39]) {
        const at = { session: session.id, message: ids[number] };
        const [first = [], ...later] = await readOn(client, at, "after");
        assert.ok(first.includes(number), `${number}: ${first}`);
        assert.deepEqual([first, ...later].flat(), numbers.slice(first[0]));
        assert.deepEqual(
          (await readOn(client, at, "before")).toReversed().flat(),
          numbers.slice(0, (first.at(-1) ?? 0) + 1),
        );
      }
    });
  }));

test("a message of another branch is opened with what came before it", () =>
  inProject(async (place) => {
    const session = await place.store.create({ title: "Branches" });
    const { records } = await session.append([
      { role: "user", content: "Root." },
      { role: "user", content: "Left." },
    ]);
    await session.append({ role: "user", content: "Right.", parentId: records[0]?.id, branch: true });
    await withClient(place, async (client) => {
      const { text } = await call(client, "open", { session: session.id, message: records[1]?.id });
      assert.ok(text.includes("Root.") && text.includes("Left.") && !text.includes("Right."), text);
      assert.ok((await call(client, "open", { session: session.id, message: "nowhere" })).isError);
    });
  }));

test("a secret is in no prompt, no resource and no answer, whole or cut, where it is to be replaced", () =>
  inProject(async (place) => {
    const { store } = place;
    await store.writeSetting("redact", "replace");
    const secret = ["ghp_", "aB3dE5gH7jK9mN1pQ3rS5tU7vW9xY1zA3bC5"].join("");
    const long = (/** @type {number} */ from) => `${"x".repeat(from)} The token tidewater is ${secret}. `.repeat(60);
    const session = await say(store, "Tokens", [0, 1, 2, 3, 5, 8, 13, 21, 34].map(long));
    const parts = Array.from({ length: secret.length - 8 }, (_, at) => secret.slice(at, at + 8)).slice(1);
    const check = (/** @type {string} */ name, /** @type {unknown} */ value) => {
      const text = JSON.stringify(value);
      assert.ok(text.includes("tidewater"), name);
      assert.deepEqual(
        parts.filter((part) => text.includes(part)),
        [],
        name,
      );
    };
    await withClient(place, async (client) => {
      for (const [name, asked] of /** @type {const} */ ([
        ["search", { words: "tidewater" }],
        ["open", { session: session.id }],
        ["recall", { question: "What is the token tidewater?" }],
        ["get_context", { session: session.id }],
      ]))
        check(name, await call(client, name, asked));
      for (const name of ["resume", "brief"])
        check(name, await client.getPrompt({ name, arguments: { session: session.id } }));
      check("resource", await client.readResource({ uri: `leftoff://session/${session.id}` }));
    });
  }));

test("what a prompt says of a secret is what the store says of it", () =>
  inProject(async (place) => {
    const { store } = place;
    await store.writeSetting("redact", "replace");
    const secret = ["ghp_", "aB3dE5gH7jK9mN1pQ3rS5tU7vW9xY1zA3bC5"].join("");
    const { id } = await say(store, "Tokens", [`The token tidewater is ${secret}.`]);
    await withClient(place, async (client) => {
      const { contents } = await client.readResource({ uri: `leftoff://session/${id}` });
      const reopened = await openStore({ home: place.home, project: place.project });
      const wanted = await (await reopened.session(id)).export("markdown");
      await reopened.close();
      assert.ok(!wanted.includes(secret));
      assert.equal(/** @type {any} */ (contents[0]).text, wanted);
    });
  }));

test("what cannot be meant is told to the model, and the server goes on", () =>
  inProject(async (place) => {
    await withClient(place, async (client) => {
      for (const [name, asked, code] of /** @type {const} */ ([
        ["open", { session: "nowhere" }, "not_found"],
        ["get_context", {}, "not_found"],
        ["save", {}, "not_found"],
        ["search", { words: "x", cursor: "there" }, "invalid_request"],
      ])) {
        const { text, isError } = await call(client, name, asked);
        assert.ok(isError && text.includes(code), `${name}: ${text}`);
      }
      assert.equal((await call(client, "search", { words: "anything" })).text, "Nothing was found.");
      assert.match((await call(client, "recall", { question: "What?" })).text, /^Nothing/);
    });
  }));

test("it ends where its input does, also one that is no pipe", () =>
  inProject(async (place) => {
    const { command, args, ...options } = started(place);
    const server = spawn(command, args, { ...options, stdio: ["ignore", "ignore", "inherit"] });
    assert.deepEqual(await once(server, "exit"), [0, null]);
  }));

test("a client of 2025 is served", () =>
  inProject(async (place) => {
    const { command, args, ...options } = started(place);
    const server = spawn(command, args, { ...options, stdio: ["pipe", "pipe", "inherit"] });
    const lines = createInterface(server.stdout)[Symbol.asyncIterator]();
    /** @param {object} message */
    const ask = async (message) => {
      server.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
      return "id" in message ? JSON.parse((await lines.next()).value ?? "null") : undefined;
    };
    const params = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "old", version: "1" } };
    const { result } = await ask({ id: 1, method: "initialize", params });
    assert.equal(result.protocolVersion, "2025-06-18");
    await ask({ method: "notifications/initialized" });
    const listed = await ask({ id: 2, method: "tools/list" });
    assert.ok(listed.result.tools.some((/** @type {any} */ { name }) => name === "recall"));
    server.stdin.end();
    const [status] = await once(server, "exit");
    assert.equal(status, 0);
  }));
