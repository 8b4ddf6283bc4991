import { join } from "node:path";
import { openStore } from "../../js/index.js";
import { root, run } from "../../scripts/run.mjs";
import { codeServer, newerNode, vsce } from "./install.mjs";
import { openWorkbench, runCommand, shoot } from "./workbench.mjs";
export default {
  title: "@leftoff",
  async prepare({ folder, home, project }) {
    const store = await openStore({ home: join(home, ".leftoff"), project });
    const session = await store.create({ title: "Croniter" });
    await session.append([
      { role: "user", content: "Why is croniter pinned?" },
      { role: "assistant", content: "croniter is pinned: version 2 drops Python 3.8." },
    ]);
    await store.close();
    const probe = join(folder, "probe.vsix");
    const flags = ["--no-dependencies", "--skip-license", "--allow-missing-repository"];
    run(newerNode(), [vsce(), "package", ...flags, "--out", probe], { cwd: join(root, "tests", "vscode", "probe"), quiet: true });
    const own = ["--extensions-dir", join(folder, "extensions"), "--user-data-dir", join(folder, "data")];
    run(newerNode(), [codeServer(), ...own, "--install-extension", probe], { env: { HOME: home }, quiet: true });
  },
  async run({ browser, url }) {
    const page = await openWorkbench(browser, url);
    page.on("console", (m) => /chat|model/i.test(m.text()) && console.log(m.text().slice(0, 300)));
    page.setDefaultTimeout(15000);
    await runCommand(page, "Chat: Open Chat");
    await page.waitForTimeout(4000);
    await shoot(page, "chat-1");
    const box = page.locator(".interactive-input-editor .monaco-editor, .chat-editor-container .monaco-editor").first();
    await box.click();
    await page.keyboard.type("@leftoff /recall why did we pin croniter?");
    await page.waitForTimeout(1000);
    await shoot(page, "chat-2");
    await page.keyboard.press("Escape");
    await page.keyboard.press("Enter");
    await page.waitForTimeout(8000);
    await shoot(page, "chat-3");
    await page.keyboard.type("@leftoff why did we pin croniter?");
    await page.keyboard.press("Escape");
    await page.keyboard.press("Enter");
    await page.waitForTimeout(8000);
    await shoot(page, "chat-4");
    await page.close();
  },
};
