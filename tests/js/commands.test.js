// @ts-check
// Slash commands as clients keep them: which began a conversation, and with what.
// Tries: js/agents/commands.js, js/cli/slash-commands.js, src/interop/commands.rs
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test } from "node:test";

import { findStartingCommand, findAgentCommand, conversationTypeOf } from "../../js/agents/commands.js";

/**
 * @param {Record<string, string>} files
 * @param {(where: { project: string, env: Record<string, string> }) => Promise<void>} work
 */
async function withFiles(files, work) {
  const folder = mkdtempSync(join(tmpdir(), "leftoff-commands-"));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  try {
    await work({ project: join(folder, "project"), env: { HOME: folder } });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

test("the project's command counts before the user's, by its name or its type; a broken file is none", () =>
  withFiles(
    {
      "project/.claude/commands/workspace.debug.md": "---\ndescription: d\n---\nproject's",
      ".claude/commands/workspace.debug.md": "user's",
      ".claude/commands/deep/er.md": "deeper",
      "project/.gemini/commands/workspace.debug.toml": 'prompt = "gemini\'s"',
      "project/.gemini/commands/workspace.aaa.toml": "not = [toml",
      "project/.agents/skills/workspace-debug/SKILL.md": "---\nname: x\n---\ncodex's",
      ".config/opencode/commands/a/b.md": "opencode's",
    },
    async (where) => {
      const text = async (/** @type {string} */ agent, /** @type {string} */ name) =>
        (await findAgentCommand(agent, name, where))?.text;
      assert.equal(await text("claude-code", "/workspace.debug"), "project's");
      assert.equal(await text("claude-code", "/deep:er"), "deeper");
      assert.equal(await text("gemini", "/workspace.debug"), "gemini's");
      assert.equal(await text("codex", "/workspace.debug"), "codex's");
      assert.equal(await text("opencode", "/a/b"), "opencode's");
      assert.equal(await text("opencode", "/workspace.debug"), undefined);
      assert.equal(await text("aider", "/workspace.debug"), undefined);
    },
  ));

test("which command began a conversation: its name where the client writes it, else its text", () =>
  withFiles(
    {
      "project/.claude/commands/workspace.plan.md": "Plan: $ARGUMENTS",
      "project/.opencode/command/workspace.plan.md": "Plan: $ARGUMENTS",
      "project/.opencode/command/other.md": "Other: $ARGUMENTS",
    },
    async (where) => {
      const behind = async (/** @type {string} */ agent, /** @type {string[]} */ ...texts) =>
        (await findStartingCommand(agent, () => texts.map((content) => ({ role: "user", content })), where))?.name;
      assert.equal(
        await behind(
          "claude-code",
          "<command-message>x</command-message>\n<command-name>/workspace.plan</command-name>",
        ),
        "/workspace.plan",
      );
      assert.equal(await behind("claude-code", "Plan: the API"), undefined);
      assert.equal(await behind("opencode", "<env>", "Plan: the API"), "/workspace.plan");
      assert.equal(await behind("opencode", "Other: the API"), undefined);
      assert.equal(await behind("codex", "$workspace-plan the API"), "$workspace-plan");
    },
  ));

test("a type is what stands behind workspace; the commands about conversations begin none", () => {
  assert.deepEqual(
    [
      "/workspace.brainstorm",
      "$workspace-debug",
      "/workspace.resume",
      "/workspace.stop-conversation",
      "/other",
      undefined,
    ].map(conversationTypeOf),
    ["brainstorm", "debug", undefined, undefined, undefined, undefined],
  );
});
