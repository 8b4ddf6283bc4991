// @ts-check
/**
 * leftoff in the AI SDK, versions 6 and 7: steps get the messages that fit and are saved as they come, and chats are
 * kept as their screens have them. Nothing of the SDK is loaded.
 */

export { contextFor } from "./context.js";
export { saveAnswer } from "./answer.js";
export { loadChat, openChat, saveChat } from "./chat.js";
export { resumeStream, saveStream } from "./stream.js";

/**
 * @typedef {import("../types/ai.js").AiAnswer} AiAnswer
 * @typedef {import("../types/ai.js").AiChat} AiChat
 * @typedef {import("../types/ai.js").AiContextRequest} AiContextRequest
 * @typedef {import("../types/ai.js").AiMessage} AiMessage
 * @typedef {import("../types/ai.js").AiPart} AiPart
 * @typedef {import("../types/ai.js").AiStep} AiStep
 * @typedef {import("../types/ai.js").AiStepOptions} AiStepOptions
 * @typedef {import("../types/ai.js").AiStepResult} AiStepResult
 * @typedef {import("../types/ai.js").AiStream} AiStream
 * @typedef {import("../types/ai.js").AiUiChunk} AiUiChunk
 * @typedef {import("../types/ai.js").AiUiMessage} AiUiMessage
 * @typedef {import("../types/ai.js").AiUsage} AiUsage
 */
