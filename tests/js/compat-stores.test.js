// @ts-check
// One store of each version that was ever released, kept for ever: what was in it is there.
// Tries: docs/FORMAT.md, src/layout/, src/record/, src/operation/store/
import assert from "node:assert/strict";
import fs from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import { openStore } from "../../js/index.js";

const STORES = fileURLToPath(new URL("../fixtures/compat/", import.meta.url));

// As they were made: by a script that said these things to the version's own API.
const CONTENT = {
  "01a1fdfe-722d-7000-bada-618ebfff907b": {
    listed: [
      "brainstorm",
      "API design",
      "completed",
      "REST it is",
      "workspace",
      "001-brainstorm-api-design",
      undefined,
    ],
    said: ["user: REST?", "assistant: REST."],
  },
  "01a1fdfe-7118-7000-b84b-3de9982cc98e": {
    listed: ["chat", "Fix the login", "paused", "The cookie has no domain", "home", undefined, undefined],
    said: [
      "system: Be brief.",
      "user: Why does the login fail? \u{1F600} \ud83d",
      "assistant: Let me look.",
      "tool: login.js\n",
      "user: see this",
      "assistant: whole",
    ],
  },
  "01a1fdfe-71f9-7000-a8ef-19272ef31e3f": {
    listed: [
      "chat",
      "Fix the login",
      "paused",
      "Asked, and not answered yet: Why does the login fail?",
      "home",
      undefined,
      "2026-11-21T12:04:33.438Z",
    ],
    said: ["system: Be brief.", "user: Why does the login fail? \u{1F600} \ud83d"],
  },
};

for (const version of fs.readdirSync(STORES)) {
  for (const derived of ["as it is", "without what is derived"]) {
    test(`a store of version ${version} opens, ${derived}`, async () => {
      const folder = fs.mkdtempSync(join(fs.realpathSync(tmpdir()), "leftoff-compat-"));
      fs.cpSync(join(STORES, version), folder, { recursive: true });
      if (derived !== "as it is")
        for (const name of ["cache", "sessions/index.jsonl", "workspaces.jsonl"])
          fs.rmSync(join(folder, "home", name), { recursive: true });
      const store = await openStore({ home: join(folder, "home"), project: join(folder, "workspace"), idleMs: 0 });
      const listed = await store.list({ all: true, type: null, archived: null });
      const seen = listed.map((one) => [
        one.id,
        [one.type, one.title, one.status, one.summary, one.placement, one.name, one.archivedAt],
      ]);
      assert.deepEqual(
        Object.fromEntries(seen),
        Object.fromEntries(Object.entries(CONTENT).map(([id, { listed: row }]) => [id, row])),
      );
      for (const [id, { said }] of Object.entries(CONTENT)) {
        const session = await store.session(id);
        assert.deepEqual(await session.examine(), { health: "ok", problems: [] });
        const texts = [];
        for await (const { role, content } of session.messages()) texts.push(`${role}: ${content}`);
        assert.deepEqual(texts, said);
        const before = fs.readFileSync(join(session.path, "messages.jsonl"));
        await session.append({ role: "user", content: "goes on" });
        const after = fs.readFileSync(join(session.path, "messages.jsonl"));
        assert.ok(after.length > before.length && after.subarray(0, before.length).equals(before));
      }
      const session = await store.session("01a1fdfe-7118-7000-b84b-3de9982cc98e");
      assert.deepEqual(
        (await session.tools()).map(({ tool, result }) => [tool, result]),
        [["Bash", { success: true, exitCode: 0, content: "login.js\n" }]],
      );
      const { messages } = await session.context({ window: 4000, encoding: "estimate-1" });
      assert.ok(
        messages.some((/** @type {any} */ { content }) => content.startsWith?.("Why does the login fail?")),
        "pinned",
      );
      await store.close();
      fs.rmSync(folder, { recursive: true });
    });
  }
}
