// @ts-check
// What the plugin does in OpenCode 2, as far as its plugins are published, and that OpenCode 1, which calls this part
// of it, too, gets nothing twice. No real OpenCode 2 was tried.
// Tries: js/opencode/index.js, js/opencode/setup.js, js/opencode/tools.js

import assert from "node:assert/strict";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import { openStore } from "../../js/index.js";
import plugin from "../../js/opencode/index.js";

/** @import { OpenCode2Compaction, OpenCode2Tool } from "../../js/types/opencode.js" */

/** What OpenCode 2 gives a plugin, and what the plugin has it do. */
class OpenCode2 {
  /** @type {OpenCode2Tool[]} */
  tools = [];
  /** @type {((event: OpenCode2Compaction) => Promise<void>)[]} */
  #hooks = [];
  /** @param {string} directory @param {string} home */
  constructor(directory, home) {
    this.context = {
      options: { home },
      location: { directory },
      session: {
        hook: async (/** @type {string} */ name, /** @type {(event: OpenCode2Compaction) => Promise<void>} */ work) => {
          assert.equal(name, "compaction");
          this.#hooks.push(work);
        },
      },
      tool: {
        transform: async (/** @type {(editor: { add(tool: OpenCode2Tool): void }) => void} */ work) =>
          work({ add: (tool) => void this.tools.push(tool) }),
      },
    };
  }

  /** What a compaction is told. @param {string} sessionID */
  async compact(sessionID) {
    /** @type {OpenCode2Compaction} */
    const event = { sessionID, system: [{ type: "text", text: "You compact." }] };
    for (const work of this.#hooks) await work(event);
    return event.system.map(({ text }) => text);
  }
}

/** @param {(opencode: OpenCode2) => Promise<void>} work */
async function withOpenCode2(work) {
  const project = mkdtempSync(join(tmpdir(), "leftoff-setup-"));
  const opencode = new OpenCode2(project, join(project, ".leftoff"));
  try {
    await work(opencode);
  } finally {
    rmSync(project, { recursive: true });
  }
}

test("the model in OpenCode 2 is offered the tools, whose answers leave out its own session", async () => {
  await withOpenCode2(async (opencode) => {
    const { location, options } = opencode.context;
    const store = await openStore({ ...options, project: location.directory });
    const own = await store.create({ source: { agent: "opencode", id: "ses_1" } });
    await own.append({ role: "user", content: "What is tidewater?" });
    const other = await store.create({ title: "The plan" });
    await other.append({ role: "user", content: "The plan is called tidewater." });
    const close = await plugin.setup(opencode.context);
    assert.deepEqual(
      opencode.tools.map(({ name, input }) => [name, Reflect.get(input, "required")]),
      [
        ["leftoff_search", ["words", "cursor"]],
        ["leftoff_recall", ["question"]],
      ],
    );
    for (const { options, description } of opencode.tools) {
      assert.deepEqual(options, { codemode: false });
      assert.match(description, /earlier conversations/);
    }
    const [search] = opencode.tools;
    const { content = "" } = (await search?.execute({ words: "tidewater", cursor: "" }, { sessionID: "ses_1" })) ?? {};
    assert.ok(content.includes(other.id) && !content.includes(own.id), content);
    await close?.();
    await store.close();
  });
});

test("a compaction in OpenCode 2 is told what the store has of its session, and goes on without it", async () => {
  await withOpenCode2(async (opencode) => {
    const { location, options } = opencode.context;
    const store = await openStore({ ...options, project: location.directory });
    const session = await store.create({ source: { agent: "opencode", id: "ses_1" } });
    await session.append({ role: "user", content: "Rename the parser's entry point." });
    const close = await plugin.setup(opencode.context);
    const [first, brief = "", ...others] = await opencode.compact("ses_1");
    assert.deepEqual([first, others], ["You compact.", []]);
    assert.match(brief, /Rename the parser's entry point/);
    assert.deepEqual(await opencode.compact("ses_2"), ["You compact."]);
    await close?.();
    await store.close();
  });
});

test("a brief that fails fails no compaction, and is told", async (context) => {
  await withOpenCode2(async (opencode) => {
    const told = context.mock.method(console, "error", () => {});
    opencode.context.options.home = join(opencode.context.location.directory, "\0");
    const close = await plugin.setup(opencode.context);
    assert.deepEqual(await opencode.compact("ses_1"), ["You compact."]);
    assert.match(String(told.mock.calls[0]?.arguments[0]), /^leftoff: no brief for a compaction: /);
    await close?.();
  });
});

test("named twice in a project of OpenCode 2, it is there once, and again once it was closed", async () => {
  await withOpenCode2(async (opencode) => {
    const close = await plugin.setup(opencode.context);
    assert.equal(await plugin.setup(opencode.context), undefined);
    assert.equal(opencode.tools.length, 2);
    await close?.();
    await (
      await plugin.setup(opencode.context)
    )?.();
    assert.equal(opencode.tools.length, 4);
  });
});

test("with what OpenCode 1.18.33 gives, nothing is set up", async () => {
  await withOpenCode2(async ({ context: { options } }) => {
    const known = {
      agent: {},
      aisdk: {},
      catalog: {},
      command: {},
      integration: {},
      plugin: {},
      reference: {},
      skill: {},
    };
    assert.equal(await plugin.setup(/** @type {any} */ ({ options, ...known })), undefined);
    assert.ok(!existsSync(options.home));
  });
});
