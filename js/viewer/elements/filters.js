// @ts-check
/** The filters: as the strip shows them, between what they leave, and where they leave nothing. */

import { html, nothing } from "lit";
import { formatCount, formatMany } from "../format.js";
import { showHidden } from "../hidden.js";
import { writeQuery } from "../query.js";
import { icon } from "./icons.js";

/** @import { Item } from "../filters.js" */
/** @import { Model } from "../model.js" */
/** @import { Filter, FilterKind } from "../query.js" */

const ROLES = { user: "You", assistant: "Assistant", tool: "Tool calls", note: "Notes", summary: "Compactions" };
/** How many tools, and files, there are to choose from. */
const MAX_CHOICES = 200;

/** @param {Model} model @param {Record<string, () => void>} actions */
export function filtersOf(model, actions) {
  const { filters } = model;
  const { all, errors, roles, tools, files } = filters.counts;
  const chip = (/** @type {Filter} */ filter, /** @type {string} */ name, /** @type {number | undefined} */ count) =>
    count === undefined && !filters.has(filter)
      ? nothing
      : html`<button
          class="chip ${filters.has(filter) ? "on" : ""}"
          aria-pressed=${filters.has(filter)}
          @click=${() => model.search(filters.queryToggling(filter))}
        >
          ${name} <b>${formatCount(count ?? 0)}</b>
        </button>`;
  return html`<div class="strip" role="region" aria-label="Filters">
    <button
      class="chip ${filters.isActive ? "" : "on"}"
      aria-pressed=${!filters.isActive}
      @click=${() => model.search(filters.queryWithout())}
    >
      All <b>${formatCount(all)}</b>
    </button>
    ${Object.entries(ROLES).map(([value, name]) => chip({ kind: "role", value }, name, roles.get(value)))}
    ${choiceOf(model, "tool", "Any tool", tools)} ${choiceOf(model, "file", "Any file", files)}
    ${chip({ kind: "is", value: "error" }, "Errors", errors || undefined)}
    ${
      model.otherHits.length > 0
        ? html`<button class="chip" @click=${actions.toOtherBranch}>
            <b>${formatCount(model.otherHits.length)}</b> on other branches
          </button>`
        : nothing
    }
    <button class="chip clear" @click=${() => model.search("")}>${icon("close")}Clear</button>
  </div>`;
}

/** @param {Model} model @param {FilterKind} kind @param {string} any @param {Map<string, number>} counts */
function choiceOf(model, kind, any, counts) {
  const { filters } = model;
  const chosen = filters.inForce.filter((filter) => filter.kind === kind).map(({ value }) => value);
  if (counts.size === 0 && chosen.length === 0) return nothing;
  const values = [...counts].sort(([, a], [, b]) => b - a).slice(0, MAX_CHOICES);
  const named = values.map(([value, count]) => ({ value: shortenPath(model, kind, value), count }));
  const others = chosen.filter((value) => !named.some((one) => one.value === value));
  const choose = (/** @type {string} */ value) =>
    model.search(value === "" ? filters.queryWithout(kind) : filters.queryToggling({ kind, value }));
  const option = (/** @type {string} */ value, /** @type {number} */ count) =>
    html`<option value=${value} ?selected=${value === chosen[0]}>${showHidden(value)} (${formatCount(count)})</option>`;
  return html`<span class="chip ${chosen.length > 0 ? "on" : ""}"
    ><select
      aria-label=${kind === "tool" ? "Tool" : "File"}
      @change=${(/** @type {Event} */ { target }) => choose(/** @type {HTMLSelectElement} */ (target).value)}
    >
      <option value="" ?selected=${chosen.length === 0}>${any}</option>
      ${others.map((value) => option(value, 0))} ${named.map(({ value, count }) => option(value, count))}
    </select>
    ${icon("down")}</span
  >`;
}

/** A path in the project as seen from there. @param {Model} model @param {FilterKind} kind @param {string} value */
function shortenPath({ metadata: { project } }, kind, value) {
  return kind === "file" && project && value.startsWith(`${project.path}/`)
    ? value.slice(project.path.length + 1)
    : value;
}

/** The filter of a file, by its path in the project. @param {Model} model @param {string} path @returns {Filter} */
export const fileFilter = (model, path) => ({ kind: "file", value: shortenPath(model, "file", path) });

/**
 * What stands for messages that the filters hide.
 * @param {Item} item @param {() => void} show
 */
export function hiddenOf({ hidden }, show) {
  return html`<div class="row hidden-run">
    <div class="g"></div>
    <button class="hid" @click=${show}>
      <span>${formatMany(hidden, "message")} hidden</span><span class="act">Show</span>
    </button>
  </div>`;
}

/** What the list says where the filters leave nothing. @param {Model} model */
export function nothingOf(model) {
  const { inForce } = model.filters;
  const words = inForce.map((filter) => writeQuery({ text: "", filters: [filter] }));
  return html`<div class="none" role="status">
    <h2>Nothing found</h2>
    <p>
      No message passes ${words.map((word, place) => html`${place > 0 ? " " : ""}<code>${showHidden(word)}</code>`)}.
    </p>
    <button class="btn line" @click=${() => model.search("")}>Clear</button>
  </div>`;
}
