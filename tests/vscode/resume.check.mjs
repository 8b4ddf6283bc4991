// @ts-check
// A session is gone on with in a terminal, natively, by the agent's own program.
// Tries: js/vscode/commands.js, js/vscode/command-line.js, js/vscode/host.node.js

import { chmodSync, mkdirSync, readdirSync, readFileSync, watch, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openStore } from "../../js/index.js";
import { equal } from "../browser/viewer.mjs";
import { openWorkbench, row, runCommand, showSessions } from "./workbench.mjs";

/** @type {import("../../scripts/vscode-test.mjs").Check} */
export default {
  title: "a session is continued in a terminal by the agent's own program",
  async prepare({ home, project }) {
    const bin = join(home, ".local", "bin");
    mkdirSync(bin, { recursive: true });
    // Stands for the client: what it is started with, and what its environment has.
    const client = `#!/bin/sh\n[ "$1" = --version ] && echo 2.1.332 && exit\nprintf '%s\\n' "$@" "run as node: $ELECTRON_RUN_AS_NODE" > "${home}/started.part"\nmv "${home}/started.part" "${home}/started"\n`;
    writeFileSync(join(bin, "claude"), client);
    chmodSync(join(bin, "claude"), 0o755);
    // The editor's terminals have the path that a login shell has.
    for (const name of [".profile", ".bash_profile"]) writeFileSync(join(home, name), `PATH="${bin}:$PATH"\n`);
    const store = await openStore({ home: join(home, ".leftoff"), project });
    const session = await store.create({ title: "The parser" });
    await session.append([
      { role: "user", content: "Rename the parser's entry point, please." },
      { role: "assistant", content: "It is now called readTranscript." },
    ]);
    await store.close();
  },
  async run({ browser, url, home }) {
    const page = await openWorkbench(browser, url);
    await showSessions(page);
    await row(page, /^The parser/).waitFor();
    const begun = started(home);
    await runCommand(page, "leftoff: Resume in Terminal");
    const choices = page.locator(".quick-input-list");
    await choices.getByRole("option", { name: /^The parser/ }).waitFor();
    await page.keyboard.press("Enter");
    await choices.getByRole("option", { name: /^claude-code/ }).waitFor();
    await page.keyboard.press("Enter");
    const [flag, id, ...rest] = (await begun).trim().split("\n");
    equal("what the client is told", [flag, rest.at(-1)], ["--resume", "run as node:"]);
    const folders = readdirSync(join(home, ".claude", "projects"), { recursive: true, encoding: "utf8" });
    const file = folders.find((path) => path.endsWith(`${id}.jsonl`));
    equal("whether the client's own file has the session", file !== undefined, true);
    const text = readFileSync(join(home, ".claude", "projects", String(file)), "utf8");
    equal("whether what was said is in it", text.includes("readTranscript"), true);
    await page.close();
  },
};

/** What the client was started with, once it was. @param {string} home @returns {Promise<string>} */
const started = (home) =>
  new Promise((found) => {
    const watcher = watch(home, (_, name) => {
      if (name !== "started") return;
      watcher.close();
      found(readFileSync(join(home, "started"), "utf8"));
    });
  });
