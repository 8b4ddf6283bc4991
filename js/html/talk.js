// @ts-check
/** The talk of a session as markup that is read without scripts: a row for each message, calls and reasoning folded. */

import { countLines, isOpenAtFirst } from "../viewer/calls.js";
import { countChanged, numberLines, sectionsOf } from "../viewer/changes.js";
import { countsOf } from "../viewer/conversation.js";
import { formatCount, formatDuration, formatMany, formatModel, formatShort } from "../viewer/format.js";
import { imageSize, imageUrl, sizeOf } from "../viewer/images.js";
import { escapeMarkup } from "../viewer/markup.js";
import { icon } from "./icons.js";
import { Markup, markup, renderMarkdown } from "./markup.js";

/** @import { Attachment, ReadMessage } from "../types/index.js" */
/** @import { Call } from "../viewer/calls.js" */
/** @import { Conversation, Row } from "../viewer/conversation.js" */

/** A longer output is cut in its middle: the file carries the whole beside. */
const MAX_OUTPUT = 40_000;
const TAIL = 8_000;
/** A larger image is named alone, in characters of base64. */
const MAX_IMAGE = 2_000_000;
/** A shorter time says nothing. */
const SHOWN_MS = 50;

/** 02:52:44, in UTC: who reads the file is elsewhere. @param {string | undefined} timestamp */
export function timeOf(timestamp) {
  const time = new Date(timestamp ?? "");
  return Number.isNaN(time.getTime()) ? "" : time.toISOString().slice(11, 19);
}

/** @param {Row} row @param {Conversation} conversation */
export function articleOf(row, { turns }) {
  const bodies = { user: userOf, assistant: assistantOf, tool: otherOf, note: otherOf, summary: summaryOf };
  const number = row.isFirstOfTurn ? markup`<span class="num">${turns[row.turn].number}</span>` : linkOf(row.message);
  const later = row.kind === "assistant" && !row.isFirstOfModel ? "later" : "";
  return markup`<article id="m=${new Markup(escapeMarkup(row.id))}"><div class="row ${row.kind} ${later}">
    <div class="g">${number}</div>
    <div class="body">${elsewhereOf(row.message)}${bodies[row.kind](row, turns[row.turn].number)}</div>
  </div></article>`;
}

/** The address by which the page names a message. @param {string} id */
export const addressOf = (id) => `#m=${encodeURIComponent(id)}`;

/** @param {ReadMessage} message */
const linkOf = ({ id, timestamp }) =>
  markup`<a href="${addressOf(id)}" title="Link to this message">${timeOf(timestamp) || "link"}</a>`;

/** @param {ReadMessage} message */
const elsewhereOf = ({ onPath }) =>
  onPath === false ? markup`<p class="about">On another branch of the session</p>` : undefined;

/** @param {Row} row @param {number} turn */
function userOf({ message }, turn) {
  const { content, tokens, attachments } = message;
  const count = tokens && markup`<span><b>${formatCount(tokens.count)}</b> tokens</span>`;
  return markup`<div class="who">
      <span class="num inline">${turn}</span><h2>You</h2>
      <span class="r">${count}<span class="tm">${linkOf(message)}</span></span>
    </div>
    <div class="prose">${renderMarkdown(content)}</div>${imagesOf(attachments)}`;
}

/** @param {Row} row */
function assistantOf({ message, calls, isFirstOfModel }) {
  const { model, reasoning = [] } = message.assistant ?? {};
  const { sent, output } = countsOf(message);
  const counts = [
    ...(sent > 0 ? [markup`<span class="opt">in <b>${formatShort(sent)}</b></span>`] : []),
    ...(output > 0 ? [markup`<span class="opt">out <b>${formatShort(output)}</b></span>`] : []),
  ];
  const prose =
    message.content === "" ? undefined : markup`<div class="prose">${renderMarkdown(message.content)}</div>`;
  return markup`<div class="who ${isFirstOfModel ? "" : "q"}">
      <b>${formatModel(model) || "Assistant"}</b>
      <span class="r"><span class="tm narrow">${linkOf(message)}</span>${counts}</span>
    </div>
    ${reasoning.map(reasoningOf)}${prose}${imagesOf(message.attachments)}${callsOf(calls)}`;
}

/** @param {{ text: string }} reasoning */
function reasoningOf({ text }) {
  if (text === "")
    return markup`<div class="reason"><div class="r-head">
      <span></span><b>Reasoning</b><span class="pv">Sealed by the provider; its text is not in the log</span>
    </div></div>`;
  return foldOf("Reasoning", text, undefined, markup`<div class="r-body prose">${renderMarkdown(text)}</div>`);
}

/** @param {string} name @param {string} text @param {string | undefined} size @param {Markup} body */
function foldOf(name, text, size, body) {
  const beginning = text.slice(0, 200).replace(/\s+/g, " ");
  return markup`<details class="reason">
    <summary class="r-head">
      ${icon("chevron", "tw")}<b>${name}</b><span class="pv">${beginning}</span><span>${size}</span>
    </summary>
    ${body}
  </details>`;
}

/** @param {Row} row */
function otherOf({ message, tokens }) {
  const { content, tool, role, attachments } = message;
  const name = tool ? `${tool.name}, without its call` : role === "system" ? "Instructions" : "Note from the client";
  const body = markup`<div class="boxed">${outputOf(content, "wrap")}</div>`;
  return markup`${foldOf(name, content, formatMany(tokens, "token"), body)}${imagesOf(attachments)}`;
}

/** @param {Row} row */
function summaryOf({ message, tokens }) {
  const body = markup`<div class="prose summary">${renderMarkdown(message.content)}</div>`;
  return markup`<div class="notice warn">
      ${icon("fold")}<b>Context compacted, a new frame begins</b>
      <span class="sub">The messages before became a summary of ${formatMany(tokens, "token")}.</span>
    </div>
    ${foldOf("Summary", message.content, undefined, body)}`;
}

/** @param {readonly Attachment[]} [attachments] */
function imagesOf(attachments = []) {
  return attachments.map((attachment) => {
    const url = (attachment.data ?? "").length > MAX_IMAGE ? undefined : imageUrl(attachment);
    const name = attachment.name ?? attachment.path ?? attachment.mime;
    if (!url) return markup`<p class="file">${name}, ${attachment.mime}, ${formatShort(sizeOf(attachment))}B</p>`;
    const size = imageSize(attachment);
    const pixels = size ? `${size.width} × ${size.height}, ` : "";
    const { width = 440, height = 248 } = size ?? {};
    return markup`<figure class="img">
      <img src="${url}" alt="${name}" width="${width}" height="${height}" loading="lazy" decoding="async">
      <figcaption>${name} · ${pixels}${formatShort(sizeOf(attachment))}B</figcaption>
    </figure>`;
  });
}

/** @param {readonly Call[]} calls */
function callsOf(calls) {
  if (calls.length === 0) return undefined;
  const parallel = calls.length > 1 ? markup`<div class="par">${calls.length} calls in parallel</div>` : undefined;
  return markup`<div class="steps">${parallel}${calls.map(callOf)}</div>`;
}

/** @param {Call} call */
function callOf(call) {
  const state = call.failed ? "bad" : call.kind === "agent" ? "agent" : "";
  const mark = call.failed ? "failed" : call.kind === "agent" ? "agent" : call.result ? "done" : "waiting";
  const open = markup`${isOpenAtFirst(call) ? markup` open` : undefined}`;
  return markup`<details class="step ${state}"${open}>
    <summary class="s-head">
      ${icon("chevron", "tw")}${icon(mark, `st ${mark === "done" ? "ok" : ""}`)}<b>${call.name}</b>
      <span class="arg">${call.argument}</span><span class="out">${outcomeOf(call)}</span>
    </summary>
    <div class="s-body">${bodyOf(call)}</div>
  </details>`;
}

/** @param {Call} call */
function outcomeOf({ changes, failed, outcome, ms, tokens }) {
  const { added, removed } = countChanged(failed ? [] : changes);
  return [
    ...(added > 0 ? [markup`<span class="plus">+${added}</span>`] : []),
    ...(removed > 0 ? [markup`<span class="minus">−${removed}</span>`] : []),
    ...(failed ? [markup`<em>${outcome}</em>`] : []),
    ...(outcome && !failed && changes.length === 0 ? [markup`<span class="opt">${outcome}</span>`] : []),
    ...(ms === undefined || ms < SHOWN_MS ? [] : [markup`<span>${formatDuration(ms)}</span>`]),
    ...(tokens === undefined ? [] : [markup`<span class="opt">${formatMany(tokens, "token")}</span>`]),
  ];
}

/** @param {Call} call */
function bodyOf(call) {
  const { result, kind, failed, changes, isBrief, text } = call;
  if (kind === "agent" && !failed) {
    const report =
      result && markup`<div class="who"><b>Report</b></div><div class="prose">${renderMarkdown(result.content)}</div>`;
    return markup`<div class="nest">
      <div class="who"><b>Prompt</b></div><div class="prose">${renderMarkdown(text)}</div>${report}
    </div>`;
  }
  if (changes.length > 0 && !failed) return diffOf(call);
  const input = isBrief ? undefined : outputOf(text, "wrap asked");
  return markup`${input}${result?.content ? outputOf(result.content) : undefined}${imagesOf(result?.attachments)}`;
}

/** @param {Call} call */
function diffOf({ changes, argument }) {
  const sections = sectionsOf(changes).map(({ heading, lines }) => {
    const name = heading === undefined ? undefined : markup`<div class="dl-name">${heading}</div>`;
    return markup`${name}${numberedOf(lines)}`;
  });
  return markup`<div class="diff" tabindex="0" role="group" aria-label="Changes of ${argument}">${sections}</div>`;
}

/** @param {import("../viewer/changes.js").Line[]} lines */
function numberedOf(lines) {
  return numberLines(lines).map(({ line: { sign, text }, before, after }) => {
    const kind = sign === "+" ? "a" : sign === "-" ? "d" : "";
    const numbers = markup`<i>${before}</i><i>${after}</i>`;
    return markup`<div class="dl ${kind}">${numbers}<u>${sign === "-" ? "−" : sign}</u><span>${text}</span></div>`;
  });
}

/** A text of a tool; a long one without its middle. @param {string} text @param {string} [kind] */
function outputOf(text, kind = "") {
  if (text.length <= MAX_OUTPUT) return markup`<div class="term ${kind}" tabindex="0">${text}</div>`;
  const [head, tail] = [text.slice(0, MAX_OUTPUT - TAIL), text.slice(-TAIL)];
  const hidden = countLines(text) - countLines(head) - countLines(tail);
  const size = hidden > 1 ? formatMany(hidden, "line") : `${formatCount(text.length - MAX_OUTPUT)} characters`;
  return markup`<div class="term ${kind}" tabindex="0">${head}</div>
    <div class="cut">${size} more, which are shown where scripts are on</div>
    <div class="term ${kind}" tabindex="0">${tail}</div>`;
}
