// @ts-check
/** A session as one text: for people, or for other programs. */

/** @import { ReadMessage, Session } from "./session.js" */

const FORMATS = { json: asJson, markdown: asMarkdown };

/** @typedef {keyof typeof FORMATS} ExportFormat */

/** The formats there are. */
export const exportFormats = /** @type {ExportFormat[]} */ (Object.keys(FORMATS));

/** @param {Session} session @param {ExportFormat} format @returns {Promise<string>} */
export async function exported(session, format) {
  const messages = [];
  for await (const message of session.messages()) messages.push(message);
  return FORMATS[format](session, messages);
}

/** @param {Session} session @param {ReadMessage[]} messages */
async function asJson(session, messages) {
  const toolExecutions = await session.toolExecutions();
  return `${JSON.stringify({ metadata: session.metadata, messages, toolExecutions }, null, 2)}\n`;
}

/** @param {Session} session @param {ReadMessage[]} messages */
async function asMarkdown({ metadata }, messages) {
  const { display, timestamps, stats, provider } = metadata;
  const facts = [
    `- session: ${metadata.id}`,
    `- type: ${metadata.type}, ${metadata.lifecycle}`,
    timestamps.createdAt && `- created: ${timestamps.createdAt}`,
    timestamps.lastMessageAt && `- last active: ${timestamps.lastMessageAt}`,
    `- messages: ${stats.messageCount}`,
    provider.model && `- model: ${provider.model}`,
    metadata.summary && `- summary: ${oneLine(metadata.summary)}`,
  ];
  return `# ${oneLine(display.title)}\n\n${facts.filter(Boolean).join("\n")}\n\n${messages.map(section).join("\n")}`;
}

/** @param {ReadMessage} message */
function section({ role, timestamp, content, tool, assistant, attachments }) {
  const heading = `## ${role ?? "message"}${tool ? ` ${oneLine(tool.name)}${tool.isError ? ", failed" : ""}` : ""}${timestamp ? `, ${timestamp}` : ""}`;
  const parts = [
    ...(assistant?.reasoning ?? []).map(({ text }) => text && quoted(text)),
    // What a tool printed is no Markdown.
    content && (tool ? fenced(content) : content),
    ...(assistant?.toolCalls ?? []).map((call) => `Calls \`${oneLine(call.name)}\`:\n\n${fenced(call.arguments, "json")}`),
    ...(attachments ?? []).map(({ name, path, mime }) => `Attached: ${oneLine(name ?? path ?? "")} (${mime})`),
  ];
  return `${heading}\n\n${parts.filter(Boolean).join("\n\n")}\n`;
}

// A fence that nothing inside can close.
/** @param {string} text @param {string} [language] */
function fenced(text, language = "") {
  const longest = Math.max(2, ...(text.match(/`+/g) ?? []).map((run) => run.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}${language}\n${text}${text.endsWith("\n") ? "" : "\n"}${fence}`;
}

/** @param {string} text */
function quoted(text) {
  return text.split("\n").map((line) => `> ${line}`).join("\n");
}

/** @param {string} text */
function oneLine(text) {
  return text.replace(/\s+/g, " ").trim();
}
