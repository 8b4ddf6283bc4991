// @ts-check
// Asks leftoff's language model tools as another extension does, and keeps their answers in the folder that is open.

const { commands, lm, Uri, workspace } = require("vscode");

const ASKED = { leftoff_search: { words: "croniter" }, leftoff_recall: { question: "Why is croniter pinned?" } };

/** @param {import("vscode").ExtensionContext} context */
exports.activate = (context) => {
  context.subscriptions.push(commands.registerCommand("leftoffProbe.askTools", askTools));
};

async function askTools() {
  const answers = [];
  for (const [name, input] of Object.entries(ASKED)) {
    const { content } = await lm.invokeTool(name, { input, toolInvocationToken: undefined });
    answers.push({ name, text: content.map((part) => Reflect.get(Object(part), "value")).join("") });
  }
  const [folder] = workspace.workspaceFolders ?? [];
  if (!folder) return;
  const file = Uri.joinPath(folder.uri, "answers.json");
  await workspace.fs.writeFile(
    file,
    new TextEncoder().encode(JSON.stringify({ names: lm.tools.map((tool) => tool.name), answers })),
  );
  await commands.executeCommand("vscode.open", file);
}
