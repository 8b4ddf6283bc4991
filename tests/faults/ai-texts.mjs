// @ts-check
/** What is said in a chat of the AI SDK that two programs hold. */

export const CHAT = "chat";
/** How many words an answer has beside its question. */
const WORDS = 12;

/** @param {string} question */
export const answerTo = (question) => `${question} ${"It is in src. ".repeat(WORDS / 4)}`.trim();

/** The text of a message on a screen. @param {readonly { type: string, text?: string }[]} parts */
export const textOf = (parts) => parts.map(({ text = "" }) => text).join("");
