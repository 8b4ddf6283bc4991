// @ts-check
/** The chat's participant `@leftoff`, where the editor has a chat. */

import { chat, commands, LanguageModelChatMessage, MarkdownString, Uri } from "vscode";

import { LeftoffError } from "../index.js";
import { answerChat, offerFollowups } from "./chat-answers.js";
import { OPEN_COMMAND } from "./chat-texts.js";
import { tellErrors } from "./commands.js";

/** @import { CancellationToken, ChatContext, ChatRequest, ChatResponseStream, ExtensionContext, LanguageModelChat } from "vscode" */
/** @import { ChatAnswer, AskModel, ChatWriter } from "./chat-answers.js" */
/** @import { OpenedStore } from "./opened-store.js" */
/** @import { SessionPanels } from "./session-panels.js" */

const JUSTIFICATION = "It answers from what was said to your agents before.";

/** @param {ExtensionContext} context @param {{ opened: OpenedStore, panels: SessionPanels }} made */
export function registerChatParticipant(context, { opened, panels }) {
  if (typeof chat?.createChatParticipant !== "function") return;
  const participant = chat.createChatParticipant("leftoff.chat", (request, { history }, stream, token) =>
    answerRequest(opened, { request, history, stream, token }),
  );
  const iconFor = (/** @type {string} */ theme) => Uri.joinPath(context.extensionUri, "media", `tab-${theme}.svg`);
  participant.iconPath = { light: iconFor("light"), dark: iconFor("dark") };
  participant.followupProvider = { provideFollowups: ({ metadata }) => offerFollowups(metadata?.answer) };
  context.subscriptions.push(
    participant,
    commands.registerCommand(OPEN_COMMAND, (id, title, message) =>
      tellErrors(() => panels.show({ id, title }, { message: message ?? undefined })),
    ),
  );
}

/**
 * @param {OpenedStore} opened
 * @param {{ request: ChatRequest, history: ChatContext["history"], stream: ChatResponseStream, token: CancellationToken }} asked
 */
async function answerRequest(opened, { request, history, stream, token }) {
  try {
    const question = {
      words: request.prompt.trim(),
      command: request.command,
      earlier: history.flatMap((turn) => /** @type {ChatAnswer[]} */ (readAnswer(turn))),
      askModel: request.model && askBy(request.model, token),
      isCancelled: () => token.isCancellationRequested,
    };
    const answer = await answerChat(await opened.store(), question, writeTo(stream));
    return { metadata: { answer } };
  } catch (error) {
    if (!(error instanceof LeftoffError)) throw error;
    return { errorDetails: { message: `leftoff: ${error.message}` } };
  }
}

/** What was answered at a turn of this chat. @param {ChatContext["history"][number]} turn @returns {ChatAnswer[]} */
function readAnswer(turn) {
  const answer = "result" in turn ? turn.result.metadata?.answer : undefined;
  return answer ? [answer] : [];
}

/** @param {LanguageModelChat} model @param {CancellationToken} token @returns {AskModel} */
const askBy = (model, token) =>
  async function* ask(talk) {
    const { User: question, Assistant: answer } = LanguageModelChatMessage;
    const messages = talk.flatMap((one) => [question(one.question), ...(one.text ? [answer(one.text)] : [])]);
    yield* (await model.sendRequest(messages, { justification: JUSTIFICATION }, token)).text;
  };

/** @param {ChatResponseStream} stream @returns {ChatWriter} */
const writeTo = (stream) => ({
  tell: (text) => stream.progress(text),
  write: (markdown) => stream.markdown(markdown),
  writeLinks: (markdown) => {
    const text = new MarkdownString(markdown);
    text.isTrusted = { enabledCommands: [OPEN_COMMAND] };
    stream.markdown(text);
  },
});
