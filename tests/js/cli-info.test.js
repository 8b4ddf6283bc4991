// @ts-check
// What leftoff says of a session is what is in its files.
// Tries: js/cli/info.js, src/operation/store/info.rs
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import { openStore } from "../../js/index.js";
import { inFolder } from "./git-tools.js";
import { nodePath } from "./node-path.js";
import { entry } from "./terminal.js";

/**
 * @param {string} law
 * @param {(parts: { store: import("../../js/store/store.js").Store, typed: (...args: string[]) => string, told: (...args: string[]) => any }) => Promise<void>} body
 */
function check(law, body) {
  test(law, () =>
    inFolder(async (folder) => {
      const where = { home: join(folder, "store"), project: folder };
      const typed = (/** @type {string[]} */ ...args) => {
        const { status, stdout, stderr } = spawnSync(
          nodePath,
          [entry, ...args, "--home", where.home, "--workspace", folder],
          { cwd: folder, encoding: "utf8" },
        );
        assert.equal(status, 0, stderr);
        return stdout;
      };
      const store = await openStore(where);
      await body({ store, typed, told: (...args) => JSON.parse(typed(...args, "--json")) });
      await store.close();
    }),
  );
}

check(
  "info counts what is there: messages by role, branches, pins, blobs, forks, files to the byte",
  async ({ store, told, typed }) => {
    const session = await store.create({
      title: "Known",
      type: "debug",
      agent: { command: "/debug", model: "gpt-5", tools: ["Read", "Bash"] },
    });
    const {
      records: [first],
    } = await session.append({ role: "user", content: "asked" });
    await session.append([
      { role: "assistant", content: "", assistant: { toolCalls: [{ id: "1", name: "Read", arguments: "{}" }] } },
      { role: "tool", content: "x".repeat(300_000), tool: { callId: "1", name: "Read" } },
      { role: "user", content: "another way", parentId: first?.id, branch: true },
    ]);
    await session.pin(first?.id ?? "");
    await session.stop({ summary: "half\nway" });
    const fork = await store.fork(session, { at: first?.id });
    const value = told("info", session.id.slice(0, -1));
    const { path } = session;
    assert.deepEqual(
      [value.id, value.title, value.type, value.status, value.placement, value.path],
      [session.id, "Known", "debug", "paused", "home", path],
    );
    assert.deepEqual(
      [value.messageCount, value.roles, value.branches, value.pins],
      [4, { system: 0, user: 2, assistant: 1, tool: 1 }, 1, [first?.id]],
    );
    assert.deepEqual(value.agent, {
      command: "/debug",
      model: "gpt-5",
      provider: null,
      contextWindow: null,
      tools: ["Read", "Bash"],
    });
    assert.deepEqual([value.forks, value.forkedFrom], [[fork.id], null]);
    assert.deepEqual(told("info", fork.id).forkedFrom, { session: session.id, messageId: first?.id });
    for (const { file, bytes, count } of value.files)
      if (count === undefined) assert.equal(bytes, fs.statSync(join(path, file)).size, file);
    assert.deepEqual(
      value.files.find((/** @type {any} */ { file }) => file === "blobs/"),
      { file: "blobs/", bytes: 300_000, count: 1 },
    );
    assert.deepEqual([value.health, value.problems], ["ok", []]);
    assert.match(
      typed("info", session.id),
      /^title +Known$[\s\S]*^summary +half way$[\s\S]*^messages +4: 2 user, 1 assistant, 1 tool$[\s\S]*^branches +1$[\s\S]*^forks +/m,
    );
  },
);

check(
  "info says who has it open, where it came from, and what is damaged, with its bytes",
  async ({ store, told, typed }) => {
    const session = await store.create({ title: "Open" });
    await session.append({ role: "user", content: "asked" });
    const [holder] = told("info", session.id).openIn;
    assert.equal(holder.pid, process.pid);
    const {
      imported: [one],
    } = await store.import(
      fileURLToPath(
        new URL("../fixtures/claude-code/real/2.1.329/a1ec06f7-8d81-4715-aba2-72b09c413bbd.jsonl", import.meta.url),
      ),
    );
    const id = one?.id ?? "";
    const { path, source } = told("info", id);
    assert.deepEqual(source, { agent: "claude-code", id: "a1ec06f7-8d81-4715-aba2-72b09c413bbd" });
    const log = join(path, "messages.jsonl");
    const { size } = fs.statSync(log);
    fs.appendFileSync(log, '{"v":1,"id"\n');
    const { health, problems } = told("info", id);
    assert.deepEqual([health, problems[0].start, problems[0].file], ["damaged", size, "messages.jsonl"]);
    assert.match(typed("info", id), new RegExp(`messages\\.jsonl, bytes ${size} to `));
  },
);

check("info of a session in a workspace names the workspace and its conversation", async ({ store, told }) => {
  const session = await store.create({ title: "API design", placement: "workspace" });
  const { name, placement, project } = told("info", session.id);
  assert.deepEqual([placement, project], ["workspace", fs.realpathSync(store.project)]);
  assert.match(name, /api-design/);
});
