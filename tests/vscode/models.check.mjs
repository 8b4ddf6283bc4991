// @ts-check
// What the editor's models may use: leftoff's MCP server, and its tools as another extension calls them.
// Tries: js/vscode/mcp-server.node.js, js/vscode/language-tools.js

import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { openStore } from "../../js/index.js";
import { root } from "../../scripts/run.mjs";
import { equal } from "../browser/viewer.mjs";
import { installProbe } from "./editor.mjs";
import { newerNode } from "./install.mjs";
import { openWorkbench, runCommand, shoot, showSessions } from "./workbench.mjs";

/** @type {import("../../scripts/vscode-test.mjs").Check} */
export default {
  title: "the editor is offered the MCP server, and its models the tools",
  async prepare({ folder, home, project }) {
    const store = await openStore({ home: join(home, ".leftoff"), project });
    const session = await store.create({ title: "Croniter" });
    await session.append([
      { role: "user", content: "Why is croniter pinned?" },
      { role: "assistant", content: "croniter is pinned: version 2 drops Python 3.8." },
    ]);
    // The server takes the project's newest for the one that it is asked in.
    await (await store.create({ title: "Now" })).append({ role: "user", content: "Hello" });
    await store.close();
    installProbe({ folder, home }, join(root, "tests", "vscode", "probe"));
  },
  async run({ browser, url, folder, home, project }) {
    const page = await openWorkbench(browser, url);
    await showSessions(page);
    await runCommand(page, "Probe: Ask Tools");
    await page.locator(".tab", { hasText: "answers.json" }).waitFor();
    const { names, answers } = JSON.parse(readFileSync(join(project, "answers.json"), "utf8"));
    const own = names.filter((/** @type {string} */ name) => name.startsWith("leftoff_")).sort();
    equal("the tools", own, ["leftoff_recall", "leftoff_search"]);
    for (const { name, text } of answers)
      equal(`what ${name} finds`, text.includes("version 2 drops Python 3.8"), true);
    await shoot(page, "tools");

    await checkHandshake({ folder, home, project });
    await runCommand(page, "MCP: List Servers");
    const server = page.locator(".quick-input-list").getByRole("option", { name: /^leftoff/ });
    await server.waitFor();
    await shoot(page, "mcp-servers");
    await server.click();
    await page
      .locator(".quick-input-list")
      .getByRole("option", { name: /Start Server/ })
      .click();
    const output = page.locator(".part.panel .view-line");
    await output.filter({ hasText: /Discovered\s6\stools/ }).waitFor();
    await shoot(page, "mcp-started");
    await page.close();
  },
};

/** Starts the server by the command that the editor is given. @param {{ folder: string, home: string, project: string }} at */
async function checkHandshake({ folder, home, project }) {
  const extensions = join(folder, "extensions");
  const name = readdirSync(extensions).find((one) => existsSync(join(extensions, one, "dist", "cli.mjs"))) ?? "";
  const client = new Client({ name: "check", version: "1" });
  await client.connect(
    new StdioClientTransport({
      command: newerNode(),
      args: [join(extensions, name, "dist", "cli.mjs"), "mcp", `--workspace=${project}`],
      env: { HOME: home, ELECTRON_RUN_AS_NODE: "1" },
    }),
  );
  const result = await client.callTool({ name: "recall", arguments: { question: "Why is croniter pinned?" } });
  equal("what the server recalls", JSON.stringify(result.content).includes("drops Python 3.8"), true);
  await client.close();
}
