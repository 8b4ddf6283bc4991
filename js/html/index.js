// @ts-check
/** A session as one page: the talk in its markup, and, where scripts run, the viewer with the session in it. */

import { arrange } from "../viewer/conversation.js";
import { formatAgent, formatCount, formatMany, formatModel, formatShort, formatSpan } from "../viewer/format.js";
import { BRAND } from "./icons.js";
import { Markup, markup } from "./markup.js";
import { addressOf, articleOf, timeOf } from "./talk.js";

/** @import { HtmlOptions } from "../types/html.js" */
/** @import { MetadataJson, ReadMessage } from "../types/index.js" */
/** @import { Session } from "../session/session.js" */
/** @import { Conversation } from "../viewer/conversation.js" */

const WITHOUT_SCRIPTS =
  "This is the talk alone. Where scripts are on, this file is the whole viewer, and it asks for nothing from anywhere.";

/** How many rows are one piece of the text, and how many characters of the carried session, at least. */
const PIECE_ROWS = 100;
const PIECE_CHARACTERS = 1_000_000;

/** What the page's script unpacks, each deflated and in base64. @type {Record<string, () => Promise<{ default: string }>>} */
const UNPACKED_FILES = {
  "leftoff.wasm": () => import("../../pkg/inline/leftoff.js"),
  "agents.wasm": () => import("../../pkg/inline/agents.js"),
  "o200k_base.planes": () => import("../../pkg/inline/o200k_base.js"),
};

/**
 * Exports a session as one HTML file, in pieces: without scripts it is read as a page, with scripts it is the viewer. It
 * asks for nothing from anywhere, and `Store.import` takes the session in again under the same id. Secrets are treated
 * as the store's exports treat them.
 * @param {Session} session
 * @param {HtmlOptions} [options]
 * @returns {AsyncGenerator<string, void, void>}
 * @throws {LeftoffError} what `Session.export` throws
 * @example
 * await session.append({ role: "user", content: "Hello" });
 * let page = "";
 * for await (const piece of exportHtml(session)) page += piece;
 * page.includes("Hello"); // => true
 */
export async function* exportHtml(session, options = {}) {
  const { script, style, policy } = (await import("../../pkg/inline/page.js")).default;
  yield* readablePart(JSON.parse(await session.export("json", options)), { style, policy });
  yield '<script type="application/leftoff">\n';
  yield* carriedPart(await session.export("leftoff", options));
  yield "</script>\n";
  for (const [name, load] of Object.entries(UNPACKED_FILES))
    yield `<script type="text/plain" id="${name}">${(await load()).default}</script>\n`;
  yield `<script>${script}</script>\n</html>\n`;
}

/**
 * @param {{ metadata: MetadataJson, messages: ReadMessage[] }} session
 * @param {{ style: string, policy: string }} page
 */
function* readablePart({ metadata, messages }, { style, policy }) {
  const conversation = arrange(messages);
  const title = metadata.display.title || "Session";
  yield markup`<!doctype html>
    <html lang="en">
    <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta http-equiv="Content-Security-Policy" content="${policy}">
    <meta name="generator" content="leftoff">
    <title>${title}</title>
    <link rel="icon" href="data:,">
    <style>${new Markup(style)}</style>
    </head>
    <body>
    <main class="plain">${headOf(metadata, conversation, title)}`.text;
  const { rows } = conversation;
  for (let place = 0; place < rows.length; place += PIECE_ROWS)
    yield rows
      .slice(place, place + PIECE_ROWS)
      .map((row) => `\n${articleOf(row, conversation).text}`)
      .join("");
  yield "\n</main>\n";
}

/** The session as one file, in pieces of whole lines. @param {string} text */
function* carriedPart(text) {
  for (let start = 0, end = 0; start < text.length; start = end) {
    end = text.indexOf("\n", start + PIECE_CHARACTERS) + 1 || text.length;
    // What a session's lines hold has no tag of a script here; whatever else has one, has it in a string of JSON.
    yield text.slice(start, end).replace(/<(?=!--|\/?script)/gi, "\\u003c");
  }
}

/** @param {MetadataJson} metadata @param {Conversation} conversation @param {string} title */
function headOf({ project, imported, provider }, { turns, totals }, title) {
  const of = [project?.name, formatAgent(imported?.agent), formatModel(provider.model)].filter(Boolean).join(" · ");
  const requests = turns.filter(({ title }) => title !== "");
  const outline = requests.map(
    ({ id, number, title }) => markup`<li value="${number}"><a href="${addressOf(id)}">${title.slice(0, 160)}</a></li>`,
  );
  const folded = markup`<details class="outline">
    <summary>${formatMany(requests.length, "request")}</summary><ol>${outline}</ol>
  </details>`;
  return markup`<header>${BRAND}<h1>${title}</h1><p class="of">${of}</p></header>
    <p class="about">${daysOf(totals)}</p>
    <ul class="counts">${countsOf(totals).map((count) => markup`<li>${count}</li>`)}</ul>
    <noscript><p class="about">${WITHOUT_SCRIPTS}</p></noscript>
    ${requests.length > 1 ? folded : undefined}`;
}

/** 2026-10-14, 02:52:44 to 03:40:12 UTC. @param {Conversation["totals"]} totals */
function daysOf({ start, end }) {
  const moment = (/** @type {string | undefined} */ at) =>
    timeOf(at) && `${new Date(at ?? "").toISOString().slice(0, 10)} ${timeOf(at)}`;
  const [from, to] = [moment(start), moment(end)];
  if (!from) return "";
  const until = to.startsWith(from.slice(0, 10)) ? to.slice(11) : to;
  return `${from}${to === from ? "" : ` to ${until}`} UTC`;
}

/** @param {Conversation["totals"]} totals */
function countsOf({ messages, tokens, input, output, cached, calls, failed, files, start, end }) {
  const counts = [formatMany(messages, "message")];
  if (input === 0) counts.push(`${formatShort(tokens)} tokens`);
  else counts.push(`${formatShort(input)} tokens in, ${formatShort(output)} out`);
  if (cached > 0 && input > 0) counts.push(`${Math.round((100 * cached) / input)} % cached`);
  if (calls > 0) counts.push(formatMany(calls, "tool call"));
  if (failed > 0) counts.push(formatMany(failed, "error"));
  if (files.size > 0) counts.push(`${formatCount(files.size)} ${files.size === 1 ? "file" : "files"} changed`);
  return [...counts, formatSpan(start, end)].filter(Boolean);
}
