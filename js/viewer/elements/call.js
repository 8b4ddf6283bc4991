// @ts-check
/** A tool call with its result: one line, and what it opens. */

import { html, nothing } from "lit";
import { countLines, diffLines } from "../calls.js";
import { formatCount, formatDuration, formatMany } from "../format.js";
import { showHidden } from "../hidden.js";
import { renderMarkdown } from "../markdown.js";
import { icon } from "./icons.js";

/** @import { Call } from "../calls.js" */
/** @import { Row } from "../conversation.js" */
/** @import { Model } from "../model.js" */

/** What a long output shows at once. */
const HEAD_LINES = 20;
const TAIL_LINES = 10;
const MORE_LINES = 200;
const MAX_CHARACTERS = 20_000;
/** The same for a line of an edit. */
const MAX_LINE = 2_000;
const TAIL_CHARACTERS = 2_000;
/** A shorter time says nothing. */
const SHOWN_MS = 50;

/** @param {Model} model @param {Row} row @returns {import("lit").TemplateResult | typeof nothing} */
export function callsOf(model, row) {
  const { calls } = row;
  if (calls.length === 0) return nothing;
  return html`<div class="steps">
    ${calls.length > 1 ? html`<div class="par">${calls.length} calls in parallel</div>` : nothing}
    ${calls.map((call) => callOf(model, row, call))}
  </div>`;
}

/** @param {Model} model @param {Row} row @param {Call} call */
function callOf(model, row, call) {
  const isOpen = model.isOpen(row, call.id, call);
  const state = call.failed ? "bad" : call.kind === "agent" ? "agent" : "";
  const mark = call.failed ? "failed" : call.kind === "agent" ? "agent" : call.result ? "done" : "waiting";
  return html`<div class="step ${state}">
    <button class="s-head" aria-expanded=${isOpen} @click=${() => model.setOpen(row, call.id, !isOpen)}>
      ${icon("chevron", "tw")}${icon(mark, `st ${mark === "done" ? "ok" : ""}`)}<b>${showHidden(call.name)}</b
      ><span class="arg" data-part=${call.isBrief ? `input-${call.id}` : nothing}>${shorten(model, call.argument)}</span
      ><span class="out">${outcomeOf(model, call)}</span>
    </button>
    ${isOpen ? html`<div class="s-body">${bodyOf(model, row, call)}</div>` : nothing}
  </div>`;
}

/** A path in the project as seen from there. @param {Model} model @param {string} argument */
function shorten({ metadata: { project } }, argument) {
  return project && argument.startsWith(`${project.path}/`) ? argument.slice(project.path.length + 1) : argument;
}

/** @param {Model} model @param {Call} call */
function outcomeOf(model, call) {
  const child = model.children.get(call.id);
  const lines = call.change ? diffLines(call.change) : [];
  const [added, removed] = ["+", "-"].map((sign) => lines.filter((line) => line.sign === sign).length);
  const change = html`${added > 0 ? html`<span class="plus">+${added}</span>` : nothing}
  ${removed > 0 ? html`<span class="minus">−${removed}</span>` : nothing} ${call.change?.isNew ? "new" : nothing}`;
  return html`${child ? html`<span>${formatMany(child.messageCount, "message")}</span>` : nothing}
  ${call.change && !call.failed ? html`<span class="change">${change}</span>` : nothing}
  ${
    call.outcome && (call.failed || !call.change)
      ? call.failed
        ? html`<em>${call.outcome}</em>`
        : html`<span class="opt">${call.outcome}</span>`
      : nothing
  }
  ${call.ms === undefined || call.ms < SHOWN_MS ? nothing : html`<span>${formatDuration(call.ms)}</span>`}
  ${call.tokens === undefined ? nothing : html`<span class="opt">${formatMany(call.tokens, "token")}</span>`}`;
}

/** @param {Model} model @param {Row} row @param {Call} call */
function bodyOf(model, row, call) {
  const { result } = call;
  if (call.kind === "agent" && !call.failed) return nestedOf(model, call);
  const isDiff = call.change !== undefined && !call.failed;
  const input = isDiff
    ? diffOf(call)
    : call.isBrief
      ? nothing
      : textOf(model, row, `input-${call.id}`, call.text, "wrap asked");
  const output = result?.content ? textOf(model, row, `output-${call.id}`, result.content) : nothing;
  return html`${input}${isDiff ? nothing : output}`;
}

/** What a sub-agent was asked, what it did, and what it told. @param {Model} model @param {Call} call */
function nestedOf(model, call) {
  const child = model.children.get(call.id);
  const prompt = child?.rows.find(({ kind }) => kind === "user")?.message.content ?? call.text;
  const did = (child?.rows ?? []).filter(({ kind, calls }) => kind === "assistant" && calls.length > 0);
  return html`<div class="nest">
    <div class="who"><b>Prompt</b></div>
    <div class="prose" data-part="input-${call.id}" .innerHTML=${renderMarkdown(prompt)}></div>
    ${did.map((row) => {
      const { content } = row.message;
      return html`${content === "" ? nothing : html`<div class="prose" .innerHTML=${renderMarkdown(content)}></div>`}
      ${callsOf(model, row)}`;
    })}
    ${
      call.result
        ? html`<div class="who"><b>Report</b></div>
            <div class="prose" data-part="output-${call.id}" .innerHTML=${renderMarkdown(call.result.content)}></div>`
        : nothing
    }
  </div>`;
}

/** A line of an edit, cut where it is very long. @param {string} line */
const beginningOf = (line) =>
  line.length > MAX_LINE
    ? `${line.slice(0, MAX_LINE)} … ${formatCount(line.length - MAX_LINE)} characters not shown`
    : line;

/** @param {Call} call */
function diffOf(call) {
  if (!call.change) return nothing;
  let [before, after] = [0, 0];
  const lines = diffLines(call.change).map(({ sign, text }) => {
    if (sign !== "+") before += 1;
    if (sign !== "-") after += 1;
    const kind = sign === "+" ? "a" : sign === "-" ? "d" : "";
    return html`<div class="dl ${kind}">
      <i>${sign === "+" ? "" : before}</i><i>${sign === "-" ? "" : after}</i><u>${sign === "-" ? "−" : sign}</u
      ><span>${showHidden(beginningOf(text))}</span>
    </div>`;
  });
  return html`<div
    class="diff"
    tabindex="0"
    role="group"
    aria-label="Changes of ${call.change.path}"
    data-part="input-${call.id}"
  >
    ${lines}
  </div>`;
}

/**
 * A text of a tool. Of a long one the first and the last lines, until more is asked for.
 * @param {Model} model @param {Row} row @param {string} part @param {string} text @param {string} [kind]
 */
export function textOf(model, row, part, text, kind = "") {
  const times = model.shownMore(row, part);
  const { head, tail, lines } = cutText(text, model.isSearched(row, part) ? Infinity : times);
  const box = (/** @type {string} */ shown) =>
    html`<div class="term ${kind}" tabindex="0" data-part=${part}>${showHidden(shown)}</div>`;
  if (tail === undefined) return box(head);
  const hidden =
    lines > 0
      ? `${formatMany(countLines(text), "line")}, ${formatCount(lines)} of them not shown`
      : `${formatCount(text.length - head.length - tail.length)} characters not shown`;
  return html`${box(head)}
    <div class="cut">
      ${hidden}
      <button @click=${() => model.showMore(row, part, 1)}>
        Show ${lines > 0 ? formatCount(Math.min(MORE_LINES, lines)) : nothing} more
      </button>
      <button @click=${() => model.showMore(row, part, Infinity)}>Open all</button>
    </div>
    ${box(tail)}`;
}

/**
 * The beginning and the end of a text, by lines, and by characters where these are long.
 * @param {string} text @param {number} times how often more was asked for
 * @returns {{ head: string, tail?: string, lines: number }} `lines`: how many are left out whole
 */
function cutText(text, times) {
  const all = text.split("\n");
  const shown = HEAD_LINES + MORE_LINES * times;
  const hidden = all.length - shown - TAIL_LINES;
  const isCut = hidden > TAIL_LINES;
  const head = isCut ? all.slice(0, shown).join("\n") : text;
  const tail = isCut ? all.slice(-TAIL_LINES).join("\n") : "";
  const characters = MAX_CHARACTERS * (1 + times);
  if (head.length + tail.length <= characters + TAIL_CHARACTERS)
    return isCut ? { head, tail, lines: hidden } : { head, lines: 0 };
  return {
    head: head.slice(0, characters),
    tail: (isCut ? tail : text.slice(characters)).slice(-TAIL_CHARACTERS),
    lines: isCut ? hidden : 0,
  };
}
