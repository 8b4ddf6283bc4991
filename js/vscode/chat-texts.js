// @ts-check
/** What the chat shows, as Markdown: what was said, as text alone, with links that open it where it was said. */

import { formatAge, formatDay, joinFacts } from "./texts.js";

/** @import { Found, Recalled, RecalledSource } from "../index.js" */

/** The command of the links; the only one that the chat's Markdown may run. */
export const OPEN_COMMAND = "leftoff.openMessage";
const MAX_EXCERPT_CHARS = 240;

/**
 * A quoted session.
 * @typedef {object} QuotedSession
 * @property {RecalledSource} source
 * @property {{ message: string, speaker: string, text: string }[]} quotes in the order in which they were said
 */

/**
 * Takes the block of a recall apart: each session is a line that begins with dashes, and each quote begins a line; what
 * was said begins none.
 * @param {Pick<Recalled, "text" | "sources">} recalled
 * @returns {QuotedSession[]}
 */
export function splitQuotes({ text, sources }) {
  /** @type {QuotedSession[]} */
  const sessions = [];
  for (const line of text.split("\n").slice(1, -1)) {
    const last = sessions.at(-1);
    const quote = last?.quotes.at(-1);
    if (line.startsWith("--- ")) sessions.push({ source: sources[sessions.length], quotes: [] });
    else if (line.startsWith(" ") && quote) quote.text += `\n${line.slice(1)}`;
    else if (last) {
      const [speaker, ...said] = line.split(": ");
      last.quotes.push({ message: last.source.messages[last.quotes.length], speaker, text: said.join(": ") });
    }
  }
  return sessions;
}

/** Numbers the sessions of a recall's block, so that an answer can name them. @param {string} text */
export function numberSources(text) {
  let count = 0;
  return text.replaceAll(/(?<=\n)--- /g, () => `--- [${(count += 1)}] `);
}

/** Text as Markdown that shows it and nothing else. @param {string} text */
export const escapeMarkdown = (text) => text.replaceAll(/[!-/:-@[-`{-~]/g, String.raw`\$&`);

/** The sessions that were quoted, as a list of links. @param {QuotedSession[]} sessions */
export const listSources = (sessions) =>
  sessions.map((session, place) => `${place + 1}. ${sourceLine(session)}`).join("\n");

/** What was quoted, by session. @param {QuotedSession[]} sessions */
export const showQuotes = (sessions) =>
  sessions
    .map((session) => [`**${sourceLine(session)}**`, ...session.quotes.map(showQuote(session.source))].join("\n\n"))
    .join("\n\n");

/** A hit, as an item of a list. @param {Found} found @param {Date} now */
export function showHit({ session, id, excerpt }, now) {
  const { title, agent, lastActive } = session;
  let room = MAX_EXCERPT_CHARS;
  const pieces = excerpt.map(({ text, isHit }) => {
    const shown = escapeMarkdown(text.replaceAll(/\s+/g, " ").slice(0, room));
    room = Math.max(0, room - text.length);
    return isHit && shown ? `**${shown}**` : shown;
  });
  const label = pieces.join("").trim() || nameOf(title);
  const about = [nameOf(title), agent && escapeMarkdown(agent), formatAge(lastActive, now)];
  return `- ${link(label, session, id)}  \n  ${joinFacts(...about)}`;
}

/** @param {QuotedSession} session */
function sourceLine({ source, quotes }) {
  const { session: id, title, agent, timestamp } = source;
  const facts = [agent && escapeMarkdown(agent), timestamp && formatDay(timestamp)];
  return joinFacts(link(nameOf(title), { id, title }, quotes[0]?.message), ...facts);
}

/** @param {RecalledSource} source */
const showQuote =
  ({ session: id, title }) =>
  (/** @type {QuotedSession["quotes"][number]} */ { message, speaker, text }) => {
    const lines = escapeMarkdown(text)
      .split("\n")
      .map((line) => line.trim());
    return `> ${link(escapeMarkdown(speaker), { id, title }, message)}: ${lines.join("  \n> ")}`;
  };

/** @param {string} title */
const nameOf = (title) => escapeMarkdown(title.replaceAll(/\s+/g, " ").trim()) || "Untitled";

/** @param {string} label Markdown @param {{ id: string, title: string }} session @param {string} [message] */
function link(label, { id, title }, message) {
  // A parenthesis would end the address.
  const args = encodeURIComponent(JSON.stringify([id, title, message])).replaceAll(/[()]/g, (mark) =>
    mark === "(" ? "%28" : "%29",
  );
  return `[${label}](command:${OPEN_COMMAND}?${args})`;
}
