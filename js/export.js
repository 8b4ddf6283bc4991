// @ts-check
/** A session as one text: for people, or for other programs. */

/** @import { SessionSecrets } from "./privacy/session-secrets.js" */
/** @import { Session } from "./session.js" */
/** @import { ReadMessage } from "./types/index.js" */

const FORMATS = { json: asJson, markdown: asMarkdown };

/** @typedef {keyof typeof FORMATS} ExportFormat */

/** What stands for reasoning that a provider gave out encrypted. */
const UNREADABLE = "[reasoning that only its provider can read]";

/** The formats there are. */
export const exportFormats = /** @type {ExportFormat[]} */ (Object.keys(FORMATS));

/** @typedef {{ metadata: Session["metadata"], messages: ReadMessage[], toolExecutions: object[] }} Whole */

/** @param {Session} session @param {{ format: ExportFormat, allBranches?: boolean, secrets: SessionSecrets }} how @returns {Promise<string>} */
export async function exported(session, { format, allBranches = false, secrets }) {
  /** @type {ReadMessage[]} */
  const messages = [];
  const elsewhere = new Set();
  for await (const message of session.messages({ allBranches: true })) {
    if (allBranches || message.onPath !== false) messages.push(message);
    else for (const id of [message.id, ...(message.tool ? [message.tool.callId] : [])]) elsewhere.add(id);
  }
  const { stored } = session;
  const toolExecutions = (await stored.toolExecutions()).filter(({ messageId, toolCallId }) => !elsewhere.has(messageId || toolCallId));
  const { value } = await secrets.out({ metadata: stored.metadata, messages, toolExecutions });
  return FORMATS[format](value);
}

/** @param {Whole} whole */
function asJson(whole) {
  return `${JSON.stringify(whole, null, 2)}\n`;
}

/** @param {Whole} whole */
function asMarkdown({ metadata, messages }) {
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
  return shown(`# ${oneLine(display.title)}\n\n${facts.filter(Boolean).join("\n")}\n\n${messages.map(section).join("\n")}`);
}

/** @param {ReadMessage} message */
function section(message) {
  const { role, timestamp, content, tool, assistant, attachments, onPath } = message;
  const heading = `## ${role ?? "message"}${tool ? ` ${oneLine(tool.name)}${tool.isError ? ", failed" : ""}` : ""}${timestamp ? `, ${timestamp}` : ""}${onPath === false ? ", of another branch" : ""}`;
  const parts = [
    ...thoughtsOf(message).map(quoted),
    // What a tool printed is no Markdown.
    content && (tool ? fenced(content) : closed(content)),
    ...(assistant?.toolCalls ?? []).map((call) => `Calls \`${oneLine(call.name)}\`:\n\n${fenced(call.arguments, "json")}`),
    ...(attachments ?? []).map(({ name, path, mime }) => `Attached: ${oneLine(name ?? path ?? "")} (${mime})`),
  ];
  return `${heading}\n\n${parts.filter(Boolean).join("\n\n")}\n`;
}

/** What an answer reasoned, as far as it can be read. @param {Pick<ReadMessage, "assistant">} message @returns {string[]} */
export function thoughtsOf({ assistant }) {
  return (assistant?.reasoning ?? []).map(({ text, data }) => text || (data ? UNREADABLE : "")).filter(Boolean);
}

// A fence that nothing inside can close.
/** @param {string} text @param {string} [language] */
function fenced(text, language = "") {
  const longest = (text.match(/`{3,}/g) ?? []).reduce((most, run) => Math.max(most, run.length), 2);
  const fence = "`".repeat(longest + 1);
  return `${fence}${language}\n${text}${text.endsWith("\n") ? "" : "\n"}${fence}`;
}

// What a message leaves open must not swallow those behind it: a fence is closed, and what begins a block of HTML that
// has no end of its own stands there as it is.
/** @param {string} text */
function closed(text) {
  let open = "";
  const lines = text.split("\n").map((line) => {
    const [, run = "", rest = ""] = /^ {0,3}(`{3,}|~{3,})(.*)$/.exec(line) ?? [];
    if (open) {
      if (run.startsWith(open) && !rest.trim()) open = "";
      return line;
    }
    if (run && !(run.startsWith("`") && rest.includes("`"))) open = run;
    return line.replace(/^( {0,3})<(?=[!?]|\/?(?:script|pre|style|textarea)\b)/i, "$1\\<");
  });
  return [...lines, ...(open ? [open] : [])].join("\n");
}

/** @param {string} text */
function quoted(text) {
  return closed(text).split("\n").map((line) => `> ${line}`).join("\n");
}

/** @param {string} text */
function oneLine(text) {
  return text.replace(/\s+/g, " ").trim();
}

// The file may be shown on a terminal, which stored text must not steer: controls are shown by their pictures.
/** @param {string} text */
function shown(text) {
  const picture = (/** @type {string} */ control) => (control < " " ? String.fromCharCode(0x2400 + control.charCodeAt(0)) : "\ufffd");
  return text.replace(/\r\n?/g, "\n").replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g, picture);
}
