// @ts-check
// Asks leftoff's language model tools as another extension does, and is a model whose answers are known. What it was
// told is kept in the folder that is open.

const { commands, LanguageModelError, LanguageModelTextPart, lm, Uri, workspace } = require("vscode");

const ASKED = { leftoff_search: { words: "croniter" }, leftoff_recall: { question: "Why is croniter pinned?" } };

/** @param {import("vscode").ExtensionContext} context */
exports.activate = (context) => {
  // Newer than the types of the oldest editor that leftoff runs in.
  const register = Reflect.get(lm, "registerLanguageModelChatProvider");
  context.subscriptions.push(
    commands.registerCommand("leftoffProbe.askTools", askTools),
    register("leftoff-probe", MODEL_PROVIDER),
  );
  // The chat's picker lists a model once someone has asked for it.
  void lm.selectChatModels({ vendor: "leftoff-probe" });
};

async function askTools() {
  const answers = [];
  for (const [name, input] of Object.entries(ASKED)) {
    const { content } = await lm.invokeTool(name, { input, toolInvocationToken: undefined });
    answers.push({ name, text: content.map(readPart).join("") });
  }
  const file = await keep("answers.json", { names: lm.tools.map((tool) => tool.name), answers });
  await commands.executeCommand("vscode.open", file);
}

const MODEL_PROVIDER = {
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
  provideLanguageModelChatResponse: answerAsModel,
};

/**
 * Answers, or fails as the question says.
 * @param {unknown} _model @param {import("vscode").LanguageModelChatMessage[]} messages @param {unknown} _options
 * @param {import("vscode").Progress<import("vscode").LanguageModelTextPart>} progress
 * @param {import("vscode").CancellationToken} token
 */
async function answerAsModel(_model, messages, _options, progress, token) {
  const texts = messages.map(({ content }) => content.map(readPart).join(""));
  await keep("asked.json", texts);
  const question = texts.at(-1)?.split("\n").at(-1) ?? "";
  const say = (/** @type {string} */ text) => progress.report(new LanguageModelTextPart(text));
  if (question.includes("blocked")) throw LanguageModelError.Blocked("the quota is used up");
  say("Because version 2 ");
  if (question.includes("broken")) throw new Error("the connection was closed");
  if (question.includes("endless")) await new Promise((ended) => token.onCancellationRequested(ended));
  say("drops Python 3.8 [1]. [Run this](command:workbench.action.files.newUntitledFile)");
}

/** @param {unknown} part */
const readPart = (part) => Reflect.get(Object(part), "value") ?? "";

/** Keeps what others are to see. @param {string} name @param {unknown} value */
async function keep(name, value) {
  const [folder] = workspace.workspaceFolders ?? [];
  const file = Uri.joinPath(folder.uri, name);
  await workspace.fs.writeFile(file, new TextEncoder().encode(JSON.stringify(value)));
  return file;
}
