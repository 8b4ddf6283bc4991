// @ts-check
// A session is found by the id that it has in the agent from which it came.
// Tries: src/operation/store/import/source_lookup.rs
import assert from "node:assert/strict";
import { appendFileSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import { historyText, openStore } from "../../js/index.js";

/** @import { Store } from "../../js/store/store.js" */

const fixtures = fileURLToPath(new URL("../fixtures/", import.meta.url));
const CLAUDE = "a1ec06f7-8d81-4715-aba2-72b09c413bbd";
const CODEX = "01a1fb63-41c8-71e1-8bc3-8044d2bc8ec3";
const OF_CLAUDE = join(fixtures, `claude-code/real/2.1.329/${CLAUDE}.jsonl`);
const OF_CODEX = join(fixtures, `codex/real/0.169.0/rollout-2026-11-20T23-55-48-${CODEX}.jsonl`);
const AGENTS = [
  "aider",
  "claude-code",
  "cline",
  "codex",
  "continue",
  "copilot",
  "gemini",
  "opencode",
  "pi",
  "qwen",
  "vscode",
];

/** @param {(store: Store, home: string) => Promise<void>} work */
async function withStore(work) {
  const home = mkdtempSync(join(tmpdir(), "leftoff-source-"));
  const store = await openStore({ home: join(home, ".leftoff"), project: home });
  try {
    await work(store, home);
  } finally {
    await store.close();
    rmSync(home, { recursive: true });
  }
}

/** What somebody says in Claude Code. @param {string} path @param {string} sessionId @param {string[]} texts */
function say(path, sessionId, ...texts) {
  const known = readdirSync(join(path, "..")).some((name) => path.endsWith(name))
    ? readFileSync(path, "utf8").trim().split("\n").length
    : 0;
  texts.forEach((text, place) => {
    const uuid = (/** @type {number} */ number) => `${sessionId.slice(0, 24)}${String(number).padStart(12, "0")}`;
    const number = known + place;
    const role = number % 2 === 0 ? "user" : "assistant";
    const message =
      role === "user"
        ? { role, content: text }
        : { id: `m${number}`, type: "message", role, content: [{ type: "text", text }], stop_reason: "end_turn" };
    appendFileSync(
      path,
      `${JSON.stringify({ type: role, uuid: uuid(number), parentUuid: number ? uuid(number - 1) : null, sessionId, timestamp: new Date(Date.UTC(2026, 9, 1, 8, 0, number)).toISOString(), message })}\n`,
    );
  });
}

for (const agent of AGENTS) {
  test(`each session of ${agent} is found by the id that it has there`, () =>
    withStore(async (store) => {
      const { imported } = await store.import(join(fixtures, agent), { from: agent });
      const ids = [...new Set(imported.map(({ id }) => id))];
      assert.ok(ids.length > 0, "expected sessions to find");
      for (const id of ids) {
        const { imported: source } = (await store.session(id)).metadata;
        const found = await store.session({ source: { agent: String(source?.agent), id: String(source?.sourceId) } });
        assert.equal(found.id, id);
      }
    }));
}

test("the id is the client's own, whatever its file is called", () =>
  withStore(async (store, home) => {
    const [claude, codex] = [join(home, "one.jsonl"), join(home, "two.jsonl")];
    writeFileSync(claude, readFileSync(OF_CLAUDE));
    writeFileSync(codex, readFileSync(OF_CODEX));
    for (const [path, agent, id] of /** @type {const} */ ([
      [claude, "claude-code", CLAUDE],
      [codex, "codex", CODEX],
    ])) {
      const [one] = (await store.import(path)).imported;
      assert.equal((await store.session({ source: { agent, id } })).id, one?.id);
    }
  }));

test("what is recorded while it goes on is found so, too, also once it lies in the workspace", () =>
  withStore(async (store, home) => {
    const [path, id] = [join(home, "s.jsonl"), "0199aaaa-0000-4000-8000-00000000000a"];
    say(path, id, "Which parser?", "The small one.");
    const session = await store.record({ agent: "claude-code", path });
    const source = { agent: "claude-code", id };
    assert.equal((await store.session({ source })).id, session?.id);
    const moved = await store.move(/** @type {any} */ (session), { to: "workspace" });
    assert.equal((await store.session({ source })).path, moved.path);
  }));

test("where a session was resumed in a client's, that one is found: what record gives", () =>
  withStore(async (store, home) => {
    const [path, id] = [join(home, "s.jsonl"), "0199bbbb-0000-4000-8000-00000000000b"];
    const source = { agent: "claude-code", id };
    const earlier = await store.create({ title: "The date library" });
    await earlier.append([
      { role: "user", content: "Which date library?" },
      { role: "assistant", content: "The standard one." },
    ]);
    // First something of its own, then the one of yesterday, then another one.
    say(path, id, "Which parser?", "The small one.");
    const own = await store.record({ agent: "claude-code", path });
    assert.equal((await store.session({ source })).id, own?.id);
    const another = await store.create({ title: "The colors" });
    await another.append([
      { role: "user", content: "Which colors?" },
      { role: "assistant", content: "Gray." },
    ]);
    for (const resumed of [earlier, another]) {
      const { block, history } = await resumed.resume({ window: 8000 });
      const text = `${block}\n${historyText(history)}`;
      await store.goesOn(resumed, text);
      say(path, id, text, "It goes on.", "And now?", "Now it is done.");
      const recorded = await store.record({ agent: "claude-code", path });
      assert.equal(recorded?.id, resumed.id);
      assert.equal((await store.session({ source })).id, resumed.id);
    }
    await store.delete(another);
    assert.equal((await store.session({ source })).id, own?.id, "where that one is gone, it is its own again");
  }));

test("where a session was written for a client, what goes on there is found by the client's id", () =>
  withStore(async (store, home) => {
    const [one] = (await store.import(OF_CODEX)).imported;
    const session = await store.session(String(one?.id));
    const { path, id } = await store.writeForAgent(session, { agent: "claude-code", env: { HOME: home } });
    await store.import(path);
    assert.equal((await store.session({ source: { agent: "claude-code", id } })).id, session.id);
  }));

test("what was never taken in is not found, and what names no source is refused", () =>
  withStore(async (store) => {
    await store.import(OF_CLAUDE);
    const refused = (/** @type {any} */ asked) =>
      store.session(asked).then(
        () => "found",
        ({ code, message }) => `${code}: ${message}`,
      );
    assert.equal(
      await refused({ source: { agent: "claude-code", id: CODEX } }),
      `not_found: no session was imported from claude-code's "${CODEX}"`,
    );
    // The same id in another agent is another session.
    assert.match(await refused({ source: { agent: "codex", id: CLAUDE } }), /^not_found/);
    assert.match(
      await refused({ source: { agent: "claude", id: CLAUDE } }),
      /^invalid_request: expected "claude-code", an agent's name, but found "claude" instead$/,
    );
    assert.match(
      await refused({ source: { agent: "claude-code" } }),
      /^invalid_request: expected a source with "agent" and "id"/,
    );
    assert.match(await refused({ source: { agent: "claude-code", id: 7 } }), /^invalid_request: .*id/);
    assert.match(
      await refused({ source: CLAUDE }),
      /^invalid_request: (?:unknown option ".*": expected agent or id$|expected an object with agent or id, but found)/,
    );
    assert.match(await refused({ from: CLAUDE }), /^invalid_request: unknown option "from": expected source/);
    assert.match(await refused(null), /^invalid_request: expected a text for "id"/);
  }));
