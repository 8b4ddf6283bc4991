// @ts-check
// Which MCP servers a client has, by the files that it reads: what is turned off is not there.
// Tries: js/agents/mcp.js, src/interop/servers.rs
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test } from "node:test";

import { mcpServers } from "../../js/agents/mcp.js";

/**
 * @param {(put: (path: string, text: string) => void, at: { project: string, env: Record<string, string> }) => Promise<void>} body
 */
async function inFolder(body) {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "leftoff-mcp-")));
  const put = (/** @type {string} */ path, /** @type {string} */ text) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  };
  try {
    await body(put, { project: join(folder, "project"), env: { HOME: join(folder, "home") } });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

test("each client's servers are found in its own files and in the project's", () =>
  inFolder(async (put, at) => {
    for (const agent of ["claude-code", "codex", "gemini", "opencode"])
      assert.deepEqual(await mcpServers(agent, at), [], `${agent} without files`);
    put("project/.mcp.json", '{"mcpServers":{"shared":{"command":"x"}}}');
    put(
      "home/.claude.json",
      JSON.stringify({
        mcpServers: { own: {} },
        projects: { [at.project]: { mcpServers: { here: {} } }, "/other": { mcpServers: { elsewhere: {} } } },
      }),
    );
    assert.deepEqual(await mcpServers("claude-code", at), ["shared", "own", "here"]);
    put(
      "home/.codex/config.toml",
      '[mcp_servers.docs]\ncommand = "x"\n[mcp_servers."off"]\ncommand = "y"\nenabled = false\n',
    );
    assert.deepEqual(await mcpServers("codex", at), ["docs"]);
    put("home/.gemini/settings.json", '// mine\n{"mcpServers":{"files":{}},}');
    put("project/.gemini/settings.json", '{"mcpServers":{"git":{}}}');
    assert.deepEqual(await mcpServers("gemini", at), ["files", "git"]);
    put("home/.config/opencode/opencode.json", '{"mcp":{"one":{"type":"local"},"two":{"enabled":false}}}');
    put("project/opencode.jsonc", '{"mcp":{"three":{}}}');
    assert.deepEqual(await mcpServers("opencode", at), ["one", "three"]);
  }));

test("what else a file says costs no server, however odd it is", () =>
  inFolder(async (put, at) => {
    put(
      "project/.mcp.json",
      '{"mcpServers":{"docs":{"timeout":1e999,"note":"\\ud83d","__proto__":{"x":1}},"off":{"enabled":false},"half\\ud83d":{}}}',
    );
    put("home/.codex/config.toml", "weight = nan\n[mcp_servers.docs]\nmost = inf\n");
    assert.deepEqual(await mcpServers("claude-code", at), ["docs", "half\ufffd"]);
    assert.deepEqual(await mcpServers("codex", at), ["docs"]);
    assert.equal(await mcpServers("nobody", at), undefined);
  }));

test("nobody can tell of another client, nor where a file cannot be read", () =>
  inFolder(async (put, at) => {
    assert.equal(await mcpServers("aider", at), undefined);
    put("project/.mcp.json", "{");
    assert.equal(await mcpServers("claude-code", at), undefined);
    put("home/.codex/config.toml", "= no");
    assert.equal(await mcpServers("codex", at), undefined);
    put("home/.gemini/settings.json/a-folder", "");
    assert.equal(await mcpServers("gemini", at), undefined);
    put("home/.config/opencode/opencode.json", '{"mcp":[1,"two"]}');
    assert.deepEqual(await mcpServers("opencode", at), []);
  }));
