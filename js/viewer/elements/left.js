// @ts-check
/** The panel at the left: the turns of the session, its files, and what its calls took. */

import { html, nothing } from "lit";
import { formatMany, formatSpan } from "../format.js";
import { showHidden } from "../hidden.js";
import { fileFilter } from "./filters.js";
import { icon } from "./icons.js";
import { tabsOf } from "./tabs.js";
import { usageOf } from "./usage.js";

/** @import { Row, Turn } from "../conversation.js" */
/** @import { Model } from "../model.js" */

const TABS = /** @type {const} */ ({ outline: "Outline", files: "Files", usage: "Usage" });

/** How many turns the outline shows at each side of the one that is read. */
const NEAR_TURNS = 150;

/** @param {Model} model @param {(row: number) => void} go */
export function leftOf(model, go) {
  const choose = (/** @type {keyof typeof TABS} */ name) => model.change(() => (model.tab = name));
  const tabs = tabsOf(TABS, { prefix: "tab", panel: "pane", chosen: model.tab, choose });
  return html`<nav class="left" aria-label="Session" ?data-open=${model.isLeftOpen}>
    <div class="tabs" role="tablist" aria-label="Session">${tabs}</div>
    <div class="pane" id="pane" role="tabpanel" aria-label=${TABS[model.tab]} tabindex="0">
      ${model.tab === "outline" ? outlineOf(model, go) : model.tab === "files" ? filesOf(model) : usageOf(model)}
    </div>
  </nav>`;
}

/** @param {Model} model @param {(row: number) => void} go */
function outlineOf(model, go) {
  const { rows, view, conversation } = model;
  const current = rows[view.first]?.turn ?? 0;
  const from = Math.max(0, Math.min(current - NEAR_TURNS, conversation.turns.length - 2 * NEAR_TURNS));
  const near = conversation.turns.slice(from, from + 2 * NEAR_TURNS);
  const rest = conversation.turns.length - from - near.length;
  const far = (/** @type {number} */ count, /** @type {string} */ where, /** @type {Turn} */ to) =>
    count > 0
      ? html`<li>
          <button class="more" @click=${() => go(to.firstRow)}>${formatMany(count, "turn")} ${where}</button>
        </li>`
      : nothing;
  return html`<ol class="ol">
    ${far(from, "before", conversation.turns[from - 1])}
    ${near.map((turn) => {
      const isCurrent = turn.number === current + 1;
      return html`<li>
        <button class="o-turn" aria-current=${isCurrent ? "true" : nothing} @click=${() => go(turn.firstRow)}>
          <span class="k">${turn.number}</span><span class="x">${turn.title || "Before the first request"}</span>
          <span class="m">
            <span>${formatMany(turn.messageCount, "message")}</span>
            ${turn.failed > 0 ? html`<span class="e">${formatMany(turn.failed, "error")}</span>` : nothing}
            <span>${formatSpan(turn.timestamp, turn.end)}</span>
          </span>
        </button>
        ${isCurrent ? stepsOf(model, turn, go) : nothing}
      </li>`;
    })}
    ${far(rest, "after", conversation.turns[from + near.length])}
  </ol>`;
}

/** What stands out in a turn. @param {Model} model @param {Turn} turn @param {(row: number) => void} go */
function stepsOf(model, turn, go) {
  const steps = [];
  for (let place = turn.firstRow; place <= turn.lastRow; place += 1)
    for (const { kind, name, text } of notable(model.rows[place]))
      steps.push(
        html`<li>
          <button @click=${() => go(place)}>${icon(name, kind)}<span class="lab">${text}</span></button>
        </li>`,
      );
  return steps.length === 0
    ? nothing
    : html`<ul class="o-sub">
        ${steps}
      </ul>`;
}

/**
 * @param {Row} row
 * @returns {{ kind: string, name: "failed" | "agent" | "file" | "fold", text: string }[]}
 */
function notable(row) {
  if (row.kind === "summary") return [{ kind: "w", name: "fold", text: "Compacted" }];
  /** @type {{ kind: string, name: "failed" | "agent" | "file", text: string }[]} */
  const found = [];
  for (const { failed, kind, argument, changes, name } of row.calls) {
    if (failed) found.push({ kind: "e", name: "failed", text: argument || showHidden(name) });
    else if (kind === "agent") found.push({ kind: "a", name: "agent", text: argument || showHidden(name) });
    else
      for (const path of new Set(changes.map((change) => change.path)))
        found.push({ kind: "", name: "file", text: shorten(path) });
  }
  return found;
}

/** @param {string} path */
const shorten = (path) => showHidden(path.split("/").slice(-2).join("/"));

/** @param {Model} model */
function filesOf(model) {
  const { files } = model.conversation.totals;
  if (files.size === 0) return html`<p class="note">No file was changed by a tool that says so.</p>`;
  const { filters } = model;
  return [...files].map(([path, { added, removed, rows }]) => {
    const [folder, name] = [path.slice(0, path.lastIndexOf("/") + 1), path.slice(path.lastIndexOf("/") + 1)];
    return html`<button
      class="f-row"
      title="${showHidden(path)}, ${formatMany(rows.length, "edit")}: show only the calls that touched it"
      aria-pressed=${filters.has(fileFilter(model, path))}
      @click=${() => model.search(filters.queryToggling(fileFilter(model, path)))}
    >
      <span class="p"><span>${shorten(folder)}</span>${showHidden(name)}</span>
      <span class="plus">${added > 0 ? `+${added}` : ""}</span
      ><span class="minus">${removed > 0 ? `−${removed}` : ""}</span>
    </button>`;
  });
}
