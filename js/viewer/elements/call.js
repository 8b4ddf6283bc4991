// @ts-check
/** A tool call with its result: one line, and what it opens. */

import { html, nothing } from "lit";
import { addressOf } from "../address.js";
import { countLines, hasDiff } from "../calls.js";
import { countChanged, numberLines, piecesOf, sectionsOf } from "../changes.js";
import { MAX_NESTED, reportedRows } from "../children.js";
import { formatCount, formatDuration, formatMany } from "../format.js";
import { showHidden } from "../hidden.js";
import { icon } from "./icons.js";
import { proseOf } from "./prose.js";

/** @import { Call } from "../calls.js" */
/** @import { Row } from "../conversation.js" */
/** @import { Model } from "../model.js" */

/** What a long output shows at once. */
const HEAD_LINES = 20;
const TAIL_LINES = 10;
const MORE_LINES = 200;
const MAX_CHARACTERS = 20_000;
const TAIL_CHARACTERS = 2_000;
/** What a line of an edit shows at once. */
const MAX_LINE = 2_000;
/** A text of more lines is laid out in stretches. */
const MAX_LINES = 400;
const STRETCH_LINES = 200;
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
      ${icon("chevron", "tw")}${icon(mark, `st ${mark === "done" ? "ok" : ""}`)}<b>${showHidden(call.name)}</b
      ><span class="arg" data-part=${hasDiff(call) ? `path-${call.id}` : call.isBrief ? `input-${call.id}` : nothing}
        >${shorten(model, call.argument)}</span
      ><span class="out">${isOpen ? nothing : hitsOf(model, row, call.id)}${outcomeOf(model, call)}</span>
    </button>
    ${isOpen ? html`<div class="s-body">${bodyOf(model, row, call, level)}</div>` : nothing}
  </div>`;
}

/** How many hits a fold hides. @param {Model} model @param {Row} row @param {string} part */
export function hitsOf(model, row, part) {
  const count = model.hitsIn(row, part);
  return count > 0 ? html`<span class="hits">${formatMany(count, "hit")}</span>` : nothing;
}

/** A path in the project as seen from there. @param {Model} model @param {string} argument */
function shorten({ metadata: { project } }, argument) {
  return project && argument.startsWith(`${project.path}/`) ? argument.slice(project.path.length + 1) : argument;
}

/** @param {Model} model @param {Call} call */
function outcomeOf(model, call) {
  const child = model.children.get(call.id);
  const { changes } = call;
  const { added, removed } = countChanged(changes);
  const change = html`${added > 0 ? html`<span class="plus">+${added}</span>` : nothing}
  ${removed > 0 ? html`<span class="minus">−${removed}</span>` : nothing}
  ${changes[0]?.isNew && changes.length === 1 ? "new" : changes.some(({ from }) => from !== undefined) ? "renamed" : nothing}`;
  return html`${child ? html`<span>${formatMany(child.messageCount, "message")}</span>` : nothing}
  ${hasDiff(call) ? html`<span class="change">${change}</span>` : nothing}
  ${
    call.outcome && !hasDiff(call)
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
  if (call.kind === "agent" && !call.failed) return nestedOf(model, row, call, level);
  const isDiff = hasDiff(call);
  const input = isDiff
    ? diffOf(model, row, call)
    : call.isBrief
      ? nothing
      : textOf(model, row, `input-${call.id}`, call.text, "wrap asked");
  const output = result?.content ? textOf(model, row, `output-${call.id}`, result.content) : nothing;
  return html`${input}${isDiff ? nothing : output}`;
}

/**
 * What a sub-agent was asked, what it did, and what it told; of one that is nested deeper, only that it is a session.
 * @param {Model} model @param {Row} caller @param {Call} call @param {number} level
 */
function nestedOf(model, caller, call, level) {
  const child = model.children.get(call.id);
  const rows = child && level < MAX_NESTED ? reportedRows(child, call) : [];
  return html`<div class="nest">
    <div class="who"><b>Prompt</b></div>
    ${proseOf(model, caller, `input-${call.id}`, call.text)}
    ${rows.map((row) => {
      const { content } = row.message;
      return html`<div class="said" data-message=${row.id}>
        ${content === "" ? nothing : proseOf(model, row, "content", content)} ${callsOf(model, row, level + 1)}
      </div>`;
    })}
    ${child && model.listAddress ? html`<a class="more" href=${addressOf({ session: child.id })}>Open as session</a>` : nothing}
    ${
      call.result
        ? html`<div class="who"><b>Report</b></div>
            ${proseOf(model, caller, `output-${call.id}`, call.result.content)}`
        : nothing
    }
  </div>`;
}

/**
 * The lines of an edit; of a long one the first and the last, until more is asked for.
 * @param {Model} model @param {Row} row @param {Call} call
 */
function diffOf(model, row, call) {
  const part = `input-${call.id}`;
  const times = timesOf(model, row, part);
  const all = sectionsOf(call.changes).flatMap(({ heading, lines }, place) => [
    ...(heading === undefined ? (place > 0 ? [gap] : []) : [() => headingOf(heading, part, times)]),
    ...numberLines(lines).map((line) => () => lineOf(model, row, part, times, line)),
  ]);
  const cut = cutOf(all.length, times);
  const box = (/** @type {(() => unknown)[]} */ shown) =>
    html`<div class="diff" tabindex="0" role="group" aria-label="Changes of ${call.argument}">
      ${shown.map((render) => render())}
    </div>`;
  if (!cut) return box(all);
  return html`${box(all.slice(0, cut.shown))}${moreOf(model, row, part, all.length, cut.hidden)}${box(
    all.slice(-TAIL_LINES),
  )}`;
}

/** What stands between two places of a file. */
const gap = () => html`<div class="dl-gap"></div>`;

/** @param {string} heading @param {string} part @param {number} times how often more was asked for */
const headingOf = (heading, part, times) =>
  html`<div class="dl-name" data-part=${part}>${beginningOf(heading, times)}</div>`;

/** A line as it is read; of a very long one its beginning. @param {string} line @param {number} times */
const beginningOf = (line, times) => showHidden(times === Infinity ? line : line.slice(0, MAX_LINE));

/**
 * A line of an edit, of a very long one its beginning.
 * @param {Model} model @param {Row} row @param {string} part @param {number} times how often more was asked for
 * @param {ReturnType<typeof numberLines>[number]} numbered
 */
function lineOf(model, row, part, times, { line: { sign, text, twin }, before, after }) {
  const kind = sign === "+" ? "a" : sign === "-" ? "d" : "";
  const other = twin === undefined ? undefined : beginningOf(twin, times);
  const line = { sign, text: beginningOf(text, times), twin: other };
  const pieces = piecesOf(line).map(({ text, isChanged }) =>
    isChanged ? (sign === "-" ? html`<del>${text}</del>` : html`<ins>${text}</ins>`) : text,
  );
  const hidden = times === Infinity ? 0 : text.length - MAX_LINE;
  return html`<div class="dl ${kind}">
    <i>${before}</i><i>${after}</i><u>${sign === "-" ? "−" : sign}</u><span data-part=${part}>${pieces}</span>
    ${
      hidden > 0
        ? html`<button class="more" @click=${() => model.showMore(row, part, Infinity)}>
            Show ${formatMany(hidden, "more character")}
          </button>`
        : nothing
    }
  </div>`;
}

/** How often more was asked for of a text; of one with the current hit, all. @param {Model} model @param {Row} row @param {string} part */
const timesOf = (model, row, part) => (model.isSearched(row, part) ? Infinity : model.shownMore(row, part));

/**
 * How many of many lines are shown, nothing if all of them.
 * @param {number} lines @param {number} times how often more was asked for
 */
function cutOf(lines, times) {
  const shown = HEAD_LINES + MORE_LINES * times;
  const hidden = lines - shown - TAIL_LINES;
  return hidden > TAIL_LINES ? { shown, hidden } : undefined;
}

/**
 * What stands where a text is cut.
 * @param {Model} model @param {Row} row @param {string} part @param {number} lines @param {number} hidden lines
 * @param {number} [characters] that are hidden, where no whole line is
 */
function moreOf(model, row, part, lines, hidden, characters = 0) {
  return html`<div class="cut">
    ${
      hidden > 0
        ? `${formatMany(lines, "line")}, ${formatCount(hidden)} of them not shown`
        : `${formatCount(characters)} characters not shown`
    }
    <button @click=${() => model.showMore(row, part, 1)}>
      Show ${hidden > 0 ? formatCount(Math.min(MORE_LINES, hidden)) : nothing} more
    </button>
    <button @click=${() => model.showMore(row, part, Infinity)}>Open all</button>
  </div>`;
}

/**
 * A text of a tool. Of a long one the first and the last lines, until more is asked for.
 * @param {Model} model @param {Row} row @param {string} part @param {string} text @param {string} [kind]
 */
export function textOf(model, row, part, text, kind = "") {
  const { head, tail, hidden } = cutText(text, timesOf(model, row, part));
  const box = (/** @type {string} */ shown) =>
    html`<div class="term ${kind}" tabindex="0" data-part=${part}>${stretchesOf(showHidden(shown).split("\n"))}</div>`;
  if (tail === undefined) return box(head);
  const characters = text.length - head.length - tail.length;
  return html`${box(head)}${moreOf(model, row, part, countLines(text), hidden, characters)}${box(tail)}`;
}

/**
 * The beginning and the end of a text, by lines, and by characters where these are long.
 * @param {string} text @param {number} times how often more was asked for
 * @returns {{ head: string, tail?: string, hidden: number }} `hidden`: how many lines are left out whole
 */
function cutText(text, times) {
  const lines = text.split("\n");
  const cut = cutOf(lines.length, times);
  const { shown, hidden } = cut ?? { shown: lines.length, hidden: 0 };
  const head = cut ? lines.slice(0, shown).join("\n") : text;
  const tail = cut ? lines.slice(-TAIL_LINES).join("\n") : "";
  const characters = MAX_CHARACTERS * (1 + times);
  if (head.length + tail.length <= characters + TAIL_CHARACTERS) return { head, tail: cut && tail, hidden };
  return {
    head: head.slice(0, characters),
    tail: (cut ? tail : text.slice(characters)).slice(-TAIL_CHARACTERS),
    hidden,
  };
}

/** Many lines in stretches that the browser lays out once they come on screen. @param {string[]} lines */
function stretchesOf(lines) {
  if (lines.length <= MAX_LINES) return lines.join("\n");
  return Array.from({ length: Math.ceil(lines.length / STRETCH_LINES) }, (_, place) => {
    const stretch = lines.slice(place * STRETCH_LINES, (place + 1) * STRETCH_LINES);
    const isLast = (place + 1) * STRETCH_LINES >= lines.length;
    return html`<div class=${isLast ? "" : "stretch"}>${stretch.join("\n")}${isLast ? "" : "\n"}</div>`;
  });
}
