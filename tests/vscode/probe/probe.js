// @ts-check
// Asks leftoff's language model tools as another extension does, and keeps their answers in the folder that is open.

const { commands, LanguageModelTextPart, lm, Uri, workspace } = require("vscode");

const ASKED = { leftoff_search: { words: "croniter" }, leftoff_recall: { question: "Why is croniter pinned?" } };

/** @param {import("vscode").ExtensionContext} context */
exports.activate = (context) => {
  context.subscriptions.push(commands.registerCommand("leftoffProbe.askTools", askTools));
  // Newer than the types.
  context.subscriptions.push(Reflect.get(lm, "registerLanguageModelChatProvider")("leftoff-probe", MODEL));
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

const MODEL = {
  provideLanguageModelChatInformation: () => [
    {
      id: "probe",
      name: "Probe Model",
      family: "probe",
      version: "1",
      maxInputTokens: 100_000,
      maxOutputTokens: 1000,
      isUserSelectable: true,
      isDefault: true,
      capabilities: { toolCalling: true },
    },
  ],
  provideTokenCount: async () => 1,
  async provideLanguageModelChatResponse(_model, messages, _options, progress) {
    const text = messages.map(({ content }) => content.map((part) => part.value ?? "").join("")).join("\n");
    progress.report(new LanguageModelTextPart(`The model was asked: ${text.slice(-80)}`));
  },
};
