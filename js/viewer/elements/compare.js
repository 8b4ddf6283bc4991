// @ts-check
/** Two contexts beside each other: their bars on one scale, their numbers, and the messages whose fate changed. */

import { html, nothing } from "lit";
import { FATE_WORDS, formatShare } from "../build-words.js";
import { cachedOf, divideWindow, fatesOf, firstDifference, sentTokens } from "../builds.js";
import { formatCount, formatTime } from "../format.js";
import { showHidden } from "../hidden.js";
import { SENT_KEY } from "../inspector.js";
import { barOf, pickOf } from "./inspector.js";
import { titleOf } from "./inspector-list.js";

/** @import { Build, Fate } from "../builds.js" */
/** @import { Model } from "../model.js" */
/** @import { Doing } from "./inspector.js" */

/** How many changed messages are shown. */
const SHOWN_CHANGES = 200;

/** @param {Model} model @param {Doing} doing */
export function compareOf(model, doing) {
  const { inspector } = model;
  const [before, after] = [inspector.builds.get(inspector.before), inspector.builds.get(inspector.after)];
  const scale = Math.max(...[before, after].map((build) => build?.result.report.budget.modelContextWindow ?? 1));
  return html`${inspector.hasSent ? nothing : html`<p class="told-so">What was sent to a model is not recorded.</p>`}
  ${sideOf(model, "before", "First", scale)} ${sideOf(model, "after", "Second", scale)}
  ${before && after ? differencesOf(model, before, after, doing) : nothing}`;
}

/** @param {Model} model @param {"before" | "after"} which @param {string} label @param {number} scale */
function sideOf(model, which, label, scale) {
  const { inspector } = model;
  const key = inspector[which];
  const build = inspector.builds.get(key);
  const trouble = inspector.troubles.get(key);
  return html`<div class="cmp">
      <b>${label}</b>${pickOf(model, which, `${label} context`)}
      <span class="sum">${build ? `${formatCount(sentTokens(build))} ${build.at ? "sent" : "to send"}` : ""}</span>
    </div>
    ${build ? barOf(build, divideWindow(build, model.messages), scale) : html`<p class="note">${trouble ?? "building"}</p>`}`;
}

/** @param {Model} model @param {Build} before @param {Build} after @param {Doing} doing */
function differencesOf(model, before, after, doing) {
  const compared = model.inspector.compare(before, after);
  const [one, other] = [before, after].map((build) => fatesOf(build, model.messages));
  const changed = compared.messages
    .map(({ id }) => ({ id, from: one.get(id), to: other.get(id) }))
    .filter(({ from, to }) => from?.fate !== to?.fate);
  return html`${tableOf(model, before, after)}
    <p class="note">${prefixWords(model, before, after)} ${strategyWords(before, after)}</p>
    ${changed.slice(0, SHOWN_CHANGES).map(({ id, from, to }) => {
      const row = model.conversation.rowOf.get(id);
      if (row === undefined || !from || !to) return nothing;
      const { message } = model.rows[row];
      const result = id === message.id ? undefined : model.messages.find((stored) => stored.id === id);
      return html`<button class="ch" @click=${() => doing.go(row)}>
        <span class="n">${formatCount(placeOf(model, id) + 1)}</span>
        <span class="x"
          >${result ? `${showHidden(result.tool?.name ?? "Tool")}, result` : titleOf(model.rows[row])}</span
        >
        <span class="fr">${FATE_WORDS[from.fate]} → ${FATE_WORDS[to.fate]}</span>
        <span class="w">${changeWords(to.tokens - from.tokens)}</span>
      </button>`;
    })}
    ${
      changed.length > SHOWN_CHANGES
        ? html`<p class="note">${formatCount(changed.length - SHOWN_CHANGES)} more changed.</p>`
        : nothing
    }`;
}

/** @param {Model} model @param {string} id */
const placeOf = ({ messages }, id) => messages.findIndex((message) => message.id === id);

/** @param {number} by */
function changeWords(by) {
  if (by === 0) return "as many tokens";
  return `${formatCount(Math.abs(by))} tokens ${by < 0 ? "less" : "more"}`;
}

/** @param {Model} model @param {Build} before @param {Build} after */
function tableOf(model, before, after) {
  const builds = [before, after];
  const count = (/** @type {Fate} */ wanted) =>
    builds.map(({ result }) => result.report.messages.filter(({ action }) => action === wanted).length);
  const name = ({ at, key } = before) => (key === SENT_KEY ? formatTime(at) : "preview");
  const rows = /** @type {[string, number[]][]} */ ([
    ["Window", builds.map(({ result }) => result.report.budget.modelContextWindow)],
    ["Messages, tokens", builds.map(({ result }) => result.tokensUsed)],
    ["Kept", count("kept")],
    ["Shortened", count("shortened")],
    ["Summarized", builds.map(({ result }) => result.summarizedMessageCount)],
    ["Dropped", count("dropped")],
  ]);
  const share = (/** @type {Build} */ build) => {
    const cached = cachedOf(build, model.messages);
    return cached ? formatShare(cached.tokens, sentTokens(build)) : "not recorded";
  };
  return html`<table class="u">
    <thead>
      <tr>
        <th scope="col">Context</th>
        <th scope="col">${name(before)}</th>
        <th scope="col">${name(after)}</th>
        <th scope="col">Change</th>
      </tr>
    </thead>
    <tbody>
      ${rows.map(
        ([label, [from, to]]) =>
          html`<tr>
            <th scope="row">${label}</th>
            <td>${formatCount(from)}</td>
            <td>${formatCount(to)}</td>
            <td>${from === to ? "" : `${to > from ? "+" : "−"}${formatCount(Math.abs(to - from))}`}</td>
          </tr>`,
      )}
      <tr>
        <th scope="row">Cached</th>
        <td>${share(before)}</td>
        <td>${share(after)}</td>
        <td></td>
      </tr>
    </tbody>
  </table>`;
}

/** @param {Build} before @param {Build} after */
const strategyWords = ({ result: one }, { result: other }) =>
  one.strategy === other.strategy ? `Strategy: ${one.strategy}.` : `Strategy: ${one.strategy}, then ${other.strategy}.`;

/** @param {Model} model @param {Build} before @param {Build} after */
function prefixWords(model, before, after) {
  const found = firstDifference(before, after);
  if (!found) return "Where the prefix first differs is not recorded.";
  const { length } = before.messages ?? [];
  if (found.place === length && length === after.messages?.length) return "Both send the same.";
  const place = found.id === undefined ? -1 : placeOf(model, found.id);
  if (place >= 0) return `The prefix differs from message ${formatCount(place + 1)} on.`;
  return found.place === 0 ? "The prefix differs from the summary on." : `The first ${found.place} sent are the same.`;
}
