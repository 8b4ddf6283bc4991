// @ts-check
/** What became of each message in a context: shape and word, the rule, the tokens, and the texts. */

import { html, nothing } from "lit";
import { FATE_WORDS, ruleWords, runWords, sentText, summaryText } from "../build-words.js";
import { FATES, collapseRuns, messagesOf } from "../builds.js";
import { formatCount, formatMany } from "../format.js";
import { showHidden } from "../hidden.js";

/** @import { ReadMessage } from "../../types/index.js" */
/** @import { Build, Entry, Listed } from "../builds.js" */
/** @import { Row } from "../conversation.js" */
/** @import { Model } from "../model.js" */
/** @import { Doing } from "./inspector.js" */

/** How many entries of a run, or of a filter, are shown at once. */
const SHOWN_ENTRIES = 100;
/** How much of a text is shown here; the conversation has all of it. */
const SHOWN_CHARACTERS = 20_000;
/** The place by which the summary's text is opened. */
const SUMMARY_ROW = -1;
/** The run of all that a filter leaves. */
const FILTER_RUN = -2;

/** @param {Model} model @param {Build} build @param {Doing} doing */
export function listOf(model, build, doing) {
  const { inspector } = model;
  const { fates = new Map(), entries = [] } = inspector.decisions ?? {};
  const { only, runs } = inspector;
  const counts = new Map();
  for (const { fate } of fates.values()) counts.set(fate, (counts.get(fate) ?? 0) + 1);
  const chips = FATES.filter((fate) => counts.has(fate)).map(
    (fate) =>
      html`<button
        class="chip ${only === fate ? "on" : ""}"
        aria-pressed=${only === fate}
        @click=${() => inspector.change(() => (inspector.only = only === fate ? undefined : fate))}
      >
        ${capital(FATE_WORDS[fate])} <b>${formatCount(counts.get(fate))}</b>
      </button>`,
  );
  const later = counts.get("later") ?? 0;
  const listed = only ? [{ hidden: entries.filter(({ fate }) => fate === only) }] : collapseRuns(entries);
  if (only && !runs.has(FILTER_RUN)) runs.set(FILTER_RUN, SHOWN_ENTRIES);
  return html`<div class="chips" role="group" aria-label="Show alone">${chips}</div>
    ${only ? nothing : summaryOf(model, build)}
    ${listed.map((one) => listedOf(model, build, doing, one, only ? FILTER_RUN : undefined))}
    ${later > 0 && !only ? html`<p class="grp">${formatMany(later, "message")} came after</p>` : nothing}`;
}

/** @param {string} text */
const capital = (text) => text[0].toUpperCase() + text.slice(1);

/** @param {Model} model @param {Build} build @param {Doing} doing @param {Listed} listed @param {number} [run] */
function listedOf(model, build, doing, listed, run) {
  if ("entry" in listed) return entryOf(model, build, doing, listed.entry);
  const { inspector, rows } = model;
  const { hidden } = listed;
  if (hidden.length === 0) return nothing;
  const key = run ?? hidden[0].row;
  const shown = inspector.runs.get(key) ?? 0;
  const rest = hidden.slice(shown);
  const more = () => inspector.change(() => inspector.runs.set(key, shown + SHOWN_ENTRIES));
  const place = (/** @type {Entry | undefined} */ entry) => formatCount((rows[entry?.row ?? 0]?.place ?? 0) + 1);
  return html`${hidden.slice(0, shown).map((entry) => entryOf(model, build, doing, entry))}
  ${
    rest.length > 0
      ? html`<button class="grp" @click=${more}>
          messages ${place(rest[0])} to ${place(rest.at(-1))}: ${runWords(rest)}
        </button>`
      : nothing
  }`;
}

/** @param {Model} model @param {Build} build @param {Doing} doing @param {Entry} entry */
function entryOf(model, build, doing, entry) {
  const { inspector, rows } = model;
  const row = rows[entry.row];
  if (!row) return nothing;
  const isOpen = inspector.opened.has(entry.row);
  const open = () => {
    doing.go(entry.row);
    void inspector.toggleRow(entry.row);
  };
  return html`<button class="ml" data-row=${row.id} aria-expanded=${isOpen} @click=${open}>
      <span class="gl ${entry.fate}"></span><span class="n">${formatCount(row.place + 1)}</span>
      <span class="x">${titleOf(row)}</span><span class="t">${tokensOf(entry)}</span>
      <span class="w"><b>${FATE_WORDS[entry.fate]}</b>, ${ruleWords(entry, aboutOf(model, row))}</span>
    </button>
    ${isOpen ? textsOf(model, build, row) : nothing}`;
}

/** @param {Model} model @param {Row} row */
function aboutOf({ inspector, rows }, row) {
  const newest = rows.findLast(({ kind, id }) => kind === "user" && inspector.fates?.get(id)?.fate !== "later");
  return { isPinned: inspector.pins.includes(row.id), isNewest: newest === row };
}

/** What a row is called: a text's first words, or the tools that were called. @param {Row} row */
export function titleOf({ message, calls }) {
  const text = showHidden(message.content.slice(0, 200).replace(/\s+/g, " ").trim());
  if (calls.length === 1) return `${showHidden(calls[0].name)} ${calls[0].argument}`;
  return calls.length > 0 ? showHidden(calls.map(({ name }) => name).join(", ")) : text || message.role;
}

/** @param {Entry} entry */
function tokensOf({ fate, before, after }) {
  return fate === "kept" ? formatCount(after) : `${formatCount(before)} → ${formatCount(after)}`;
}

/** @param {Model} model @param {Build} build */
function summaryOf({ inspector }, build) {
  const { summaryTokens } = build.result.report;
  if (summaryTokens === undefined) return nothing;
  const isOpen = inspector.opened.has(SUMMARY_ROW);
  const text = build.messages && summaryText(build.messages);
  return html`<button class="ml" aria-expanded=${isOpen} @click=${() => inspector.toggleRow(SUMMARY_ROW)}>
      <span class="gl stand-in"></span><span class="n"></span><span class="x">The summary</span
      ><span class="t">${formatCount(summaryTokens)}</span>
      <span class="w">stands for ${formatMany(build.result.summarizedMessageCount, "message")}</span>
    </button>
    ${isOpen ? html`<div class="texts">${boxOf("Sent", text ?? "not recorded")}</div>` : nothing}`;
}

/** The texts of a row as they are stored, and beside them as they were sent. @param {Model} model @param {Build} build @param {Row} row */
function textsOf(model, build, row) {
  const many = messagesOf(row);
  return many.map((message) => html`<div class="texts">${textOf(model, build, message, many.length > 1)}</div>`);
}

/** @param {Model} model @param {Build} build @param {ReadMessage} message @param {boolean} isNamed */
function textOf({ inspector }, build, message, isNamed) {
  const fate = inspector.decisions?.fates.get(message.id)?.fate ?? "later";
  const name = isNamed ? html`<p class="of">${showHidden(message.tool?.name ?? "Message")}</p>` : nothing;
  const stored = message.content || "(no text)";
  if (fate !== "kept" && fate !== "shortened")
    return html`${name}${boxOf("Stored", stored)}${boxOf("Sent", `nothing: ${FATE_WORDS[fate]}`)}`;
  const sent = build.messages && sentText(build.messages, message);
  if (sent === undefined)
    return html`${name}${boxOf("Stored", stored)}${boxOf("Sent", fate === "kept" ? "as stored" : "not recorded")}`;
  if (sent === message.content) return html`${name}${boxOf("Stored, and sent as it is", stored)}`;
  return html`${name}${boxOf("Stored", stored)}${boxOf("Sent", sent)}`;
}

/** @param {string} label @param {string} text */
function boxOf(label, text) {
  const shown = showHidden(text.slice(0, SHOWN_CHARACTERS));
  return html`<div class="text">
    <span>${label}</span>
    <div class="term wrap" tabindex="0" role="group" aria-label=${label}>${shown}</div>
    ${text.length > SHOWN_CHARACTERS ? html`<span>${formatCount(text.length - SHOWN_CHARACTERS)} characters more</span>` : nothing}
  </div>`;
}
