// @ts-check
// What is known of a conversation, against the agents' own files read here by hand; briefs, and the report that is
// kept.
// Tries: src/state/, src/context/report.rs
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";

import { LeftoffError, MemoryStorage, countTokens, openStore } from "../../js/index.js";
import { LONG_SESSION, grow, transcripts } from "../../scripts/grow.mjs";

const home = mkdtempSync(join(tmpdir(), "leftoff-state-"));
after(() => rmSync(home, { recursive: true, force: true }));

const EDITORS = ["Write", "Edit", "MultiEdit", "NotebookEdit"];

/** @param {Uint8Array} bytes */
async function importSessions(bytes) {
  const storage = new MemoryStorage();
  await storage.append("/transcript.jsonl", bytes);
  const store = await openStore({ home: "/home", project: "/", storage });
  const read = await store.import("/transcript.jsonl").catch((error) => {
    // Some of the files are of other agents, or hold no message.
    assert.ok(error instanceof LeftoffError && ["unknown_format", "empty_file"].includes(error.code), String(error));
    return { imported: [] };
  });
  return Promise.all(read.imported.map(({ id }) => store.session(id)));
}

/** Calls that went well or failed, as the file itself says. @param {string} file */
function readByHand(file) {
  const calls = new Map();
  const files = new Set();
  const failed = new Set();
  for (const line of file.split("\n")) {
    let entry;
    try {
      entry = JSON.parse(line);
    } catch {
      continue;
    }
    const content = entry?.message?.content;
    for (const block of Array.isArray(content) ? content : []) {
      if (block?.type === "tool_use") calls.set(block.id, block);
      const call = block?.type === "tool_result" ? calls.get(block.tool_use_id) : undefined;
      if (call && EDITORS.includes(call.name) && !block.is_error)
        files.add(call.input.file_path ?? call.input.notebook_path);
      if (call?.name === "Bash" && block.is_error && !entry.toolDenialKind)
        failed.add(call.input.command.split(/\s+/).join(" ").trim());
    }
  }
  return { files, failed };
}

test("the files that were changed and the commands that failed are those of the agent's own file", async () => {
  const sum = { files: 0, failed: 0 };
  for (const path of transcripts()) {
    const bytes = readFileSync(path);
    const byHand = readByHand(bytes.toString());
    const states = await Promise.all((await importSessions(bytes)).map((session) => session.state()));
    const files = new Set(states.flatMap(({ modifiedFiles }) => modifiedFiles.map((file) => file.path)));
    const failed = new Set(states.flatMap(({ failedCommands }) => failedCommands.map(({ command }) => command)));
    if (states.length === 0) continue;
    assert.deepEqual([...files].sort(), [...byHand.files].sort(), path);
    assert.deepEqual([...failed].sort(), [...byHand.failed].sort(), path);
    sum.files += files.size;
    sum.failed += failed.size;
  }
  assert.ok(sum.files >= 5 && sum.failed > 0, JSON.stringify(sum));
});

test("a context that leaves messages out names the task, each file and each command that failed", async () => {
  const [session] = await importSessions(new TextEncoder().encode(grow(LONG_SESSION)));
  assert.ok(session);
  const call = (/** @type {string} */ id, /** @type {string} */ name, /** @type {object} */ args) => ({
    role: "assistant",
    content: "",
    assistant: { toolCalls: [{ id, name, arguments: JSON.stringify(args) }] },
  });
  const result = (/** @type {string} */ callId, /** @type {string} */ name, isError = false) => ({
    role: "tool",
    content: "done",
    tool: { callId, name, isError },
  });
  const files = Array.from({ length: 12 }, (_, n) => `src/part-${n}/index.ts`);
  const edits = files.flatMap((file_path, n) => [call(`e${n}`, "Edit", { file_path }), result(`e${n}`, "Edit")]);
  const runs = [
    call("r1", "Bash", { command: "npm run check" }),
    result("r1", "Bash", true),
    call("r2", "Bash", { command: "npm run lint" }),
    result("r2", "Bash", true),
    call("r3", "Bash", { command: "npm run lint" }),
    result("r3", "Bash"),
  ];
  const todos = [
    call("t", "TodoWrite", { todos: [{ content: "write the changelog", status: "pending" }] }),
    result("t", "TodoWrite"),
  ];
  const store = await openStore({ home: "/home", project: "/", storage: new MemoryStorage() });
  const own = await store.create();
  await own.append([{ role: "user", content: "Port the billing module to TypeScript." }, ...edits, ...runs, ...todos]);
  const old = [];
  for await (const { id: _, parentId: __, ...message } of session.messages()) old.push(/** @type {any} */ (message));
  await own.append(old);
  const requests = [8_000, 32_000].flatMap((window) => [false, true].map((frame) => ({ window, frame })));
  for (const { window, frame } of requests) {
    const { messages, strategy } = await own.context({ window, frame });
    if (!frame) assert.equal(strategy, "recent-plus-summary");
    const summary = messages.find(({ content }) => content.startsWith("[EARLIER CONVERSATION]"))?.content ?? "";
    for (const named of ["Port the billing module to TypeScript.", "write the changelog", ...files])
      assert.ok(summary.includes(named), `${window}: ${named}\n${summary}`);
    assert.match(summary, /`npm run check` failed, has not passed since/);
    assert.match(summary, /`npm run lint` failed, passed when it was run again/);
    assert.ok(Number(await countTokens(summary)) <= 0.3 * 0.75 * window);
  }
});

test("decisions and what stops the work stand in a context under headings of their own", async () => {
  const store = await openStore({ home: "/home", project: "/", storage: new MemoryStorage() });
  const session = await store.create();
  const [decided, blocked] = ["We decided to use RSA keys for it.", "I am blocked by the missing signing key."];
  await session.append([
    { role: "user", content: "Ship the release." },
    { role: "assistant", content: blocked },
    { role: "user", content: decided },
  ]);
  const { blockers, keyDecisions } = await session.state();
  assert.deepEqual([blockers, keyDecisions], [[blocked], [decided]]);
  for (let n = 0; n < 60; n += 1)
    await session.append({ role: n % 2 ? "user" : "assistant", content: `${n} ${"words ".repeat(50)}` });
  const { messages } = await session.context({ window: 2_500, encoding: "estimate-1" });
  const [{ content: summary }] = messages;
  for (const said of [`\n\nKEY DECISIONS MADE:\n- ${decided}\n`, `\n\nCURRENT BLOCKERS:\n- ${blocked}\n`])
    assert.ok(summary.includes(said), summary);
});

test("a brief has the task and the pins, in at most so many tokens", async () => {
  const store = await openStore({ home: "/home", project: "/", storage: new MemoryStorage() });
  const session = await store.create();
  assert.equal(await session.brief({ maxTokens: 0 }), "");
  const { records } = await session.append([
    { role: "user", content: "Speed up the search." },
    { role: "user", content: "The budget is 40 ms on the smallest machine." },
    { role: "assistant", content: "I decided to keep the index in memory, because disks differ too much." },
  ]);
  const [, pinned] = records;
  await session.pin(/** @type {string} */ (pinned?.id));
  const brief = await session.brief({ maxTokens: 200 });
  for (const said of ["Speed up the search.", "40 ms", "keep the index in memory"])
    assert.ok(brief.includes(said), brief);
  for (const maxTokens of [0, 10, 30, 60, 100])
    assert.ok((await countTokens(await session.brief({ maxTokens }))) <= maxTokens, String(maxTokens));
  await assert.rejects(session.brief({ maxTokens: 1.5 }), { code: "invalid_request" });
  await assert.rejects(session.brief({ encoding: "klingon" }), { code: "no_counter" });
});

test("what the last context was made of is kept, without its texts, and goes with the session", async () => {
  const store = await openStore({ home, project: home });
  const session = await store.create();
  assert.equal(await session.lastContext(), undefined);
  await session.append({ role: "user", content: "a secret of some length" });
  const { messages: _, ...result } = await session.context({ window: 4_000 });
  await session.flush();
  const other = await openStore({ home, project: home });
  const kept = await (await other.session(session.id)).lastContext();
  assert.deepEqual({ ...kept, at: "" }, { ...result, at: "" });
  assert.ok(!JSON.stringify(kept).includes("secret"));
  await other.close();
  assert.deepEqual(
    (await store.doctor()).flatMap(({ problems }) => problems),
    [],
  );
  const path = join(home, "cache", `${session.id}.report`);
  assert.ok(readFileSync(path).length > 0);
  await store.delete(session);
  assert.throws(() => readFileSync(path), { code: "ENOENT" });
  await store.close();
});
