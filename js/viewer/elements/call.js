// @ts-check
/** A tool call with its result: one line, and what it opens. */

import { html, nothing } from "lit";
import { addressOf } from "../address.js";
import { countLines, diffLines } from "../calls.js";
import { MAX_NESTED } from "../children.js";
import { formatCount, formatDuration, formatMany } from "../format.js";
import { renderMarkdown } from "../markdown.js";
import { icon } from "./icons.js";

/** @import { Call } from "../calls.js" */
/** @import { Row } from "../conversation.js" */
/** @import { Model } from "../model.js" */

/** What a long output shows at once. */
const HEAD_LINES = 20;
const TAIL_LINES = 10;
const MORE_LINES = 200;
/** A shorter time says nothing. */
const SHOWN_MS = 50;

/**
 * @param {Model} model @param {Row} row @param {number} [level] how many sub-agents it is nested in
 * @returns {import("lit").TemplateResult | typeof nothing}
 */
export function callsOf(model, row, level = 0) {
  const { calls } = row;
  if (calls.length === 0) return nothing;
  return html`<div class="steps">
    ${calls.length > 1 ? html`<div class="par">${calls.length} calls in parallel</div>` : nothing}
    ${calls.map((call) => callOf(model, row, call, level))}
  </div>`;
}

/** @param {Model} model @param {Row} row @param {Call} call @param {number} level */
function callOf(model, row, call, level) {
  const isOpen = model.isOpen(row, call.id, call);
  const state = call.failed ? "bad" : call.kind === "agent" ? "agent" : "";
  const mark = call.failed ? "failed" : call.kind === "agent" ? "agent" : call.result ? "done" : "waiting";
  return html`<div class="step ${state}">
    <button class="s-head" aria-expanded=${isOpen} @click=${() => model.setOpen(row, call.id, !isOpen)}>
      ${icon("chevron", "tw")}${icon(mark, `st ${mark === "done" ? "ok" : ""}`)}<b>${call.name}</b
      ><span class="arg" data-part=${call.isBrief ? `input-${call.id}` : nothing}>${shorten(model, call.argument)}</span
      ><span class="out">${outcomeOf(model, call)}</span>
    </button>
    ${isOpen ? html`<div class="s-body">${bodyOf(model, row, call, level)}</div>` : nothing}
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

/** @param {Model} model @param {Row} row @param {Call} call @param {number} level */
function bodyOf(model, row, call, level) {
  const { result } = call;
  if (call.kind === "agent" && !call.failed) return nestedOf(model, call, level);
  const isDiff = call.change !== undefined && !call.failed;
  const input = isDiff
    ? diffOf(call)
    : call.isBrief
      ? nothing
      : textOf(model, row, `input-${call.id}`, call.text, "wrap asked");
  const output = result?.content ? textOf(model, row, `output-${call.id}`, result.content) : nothing;
  return html`${input}${isDiff ? nothing : output}`;
}

/**
 * What a sub-agent was asked, what it did, and what it told; of one that is nested deeper, only that it is a session.
 * @param {Model} model @param {Call} call @param {number} level
 */
function nestedOf(model, call, level) {
  const child = model.children.get(call.id);
  const isDeeper = level >= MAX_NESTED;
  const prompt = child?.rows.find(({ kind }) => kind === "user")?.message.content ?? call.text;
  const did = (isDeeper ? [] : (child?.rows ?? [])).filter(
    ({ kind, calls }) => kind === "assistant" && calls.length > 0,
  );
  return html`<div class="nest">
    <div class="who"><b>Prompt</b></div>
    <div class="prose" data-part="input-${call.id}" .innerHTML=${renderMarkdown(prompt)}></div>
    ${did.map((row) => {
      const { content } = row.message;
      return html`${content === "" ? nothing : html`<div class="prose" .innerHTML=${renderMarkdown(content)}></div>`}
      ${callsOf(model, row, level + 1)}`;
    })}
    ${child && model.listAddress ? html`<a class="more" href=${addressOf({ session: child.id })}>Open as session</a>` : nothing}
    ${
      call.result
        ? html`<div class="who"><b>Report</b></div>
            <div class="prose" data-part="output-${call.id}" .innerHTML=${renderMarkdown(call.result.content)}></div>`
        : nothing
    }
  </div>`;
}

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
      ><span>${text}</span>
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
  const lines = text.split("\n");
  const shown = HEAD_LINES + MORE_LINES * model.shownMore(row, part);
  const hidden = lines.length - shown - TAIL_LINES;
  if (hidden <= TAIL_LINES || model.isSearched(row, part))
    return html`<div class="term ${kind}" tabindex="0" data-part=${part}>${text}</div>`;
  return html`<div class="term ${kind}" tabindex="0" data-part=${part}>${lines.slice(0, shown).join("\n")}</div>
    <div class="cut">
      ${formatMany(countLines(text), "line")}, ${formatCount(hidden)} of them not shown
      <button @click=${() => model.showMore(row, part, 1)}>Show ${Math.min(MORE_LINES, hidden)} more</button>
      <button @click=${() => model.showMore(row, part, Infinity)}>Open all</button>
    </div>
    <div class="term ${kind}" tabindex="0" data-part=${part}>${lines.slice(-TAIL_LINES).join("\n")}</div>`;
}
