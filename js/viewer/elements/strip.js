// @ts-check
/** The header, and the strip below it: totals, or filters while something is searched. */

import { html, nothing } from "lit";
import { formatAgent, formatCount, formatModel, formatShort, formatSpan } from "../format.js";
import { showHidden } from "../hidden.js";
import { filtersOf } from "./filters.js";
import { brandOf, icon } from "./icons.js";

import { MAX_HITS } from "../search.js";

/** @import { Model } from "../model.js" */

/**
 * @param {Model} model
 * @param {Record<string, () => void>} actions by the names that the keys have
 */
export function headerOf(model, actions) {
  const { project, provider, imported } = model.metadata;
  const of = [showHidden(project?.name ?? ""), formatAgent(imported?.agent), formatModel(provider.model)]
    .filter(Boolean)
    .join(" · ");
  return html`<header class="head">
    ${brandOf(model.listAddress)}
    <div class="title">
      <h1>${titleOf(model)}</h1>
      <span class="of">${of}</span>
    </div>
    ${model.isLive ? html`<span class="live"><i></i>Live</span>` : nothing} ${searchOf(model, actions)}
    <button class="btn icon only-m" aria-label="Outline" aria-expanded=${model.isLeftOpen} @click=${actions.toggleLeft}>
      ${icon("list")}
    </button>
    <button
      class="btn line inspect"
      aria-label="What the model saw"
      aria-pressed=${model.inspector.isOpen}
      @click=${actions.inspect}
    >
      ${icon("eye")}<span class="lb">What the model saw</span>
    </button>
    <button class="btn icon only-n" aria-label="Search" @click=${actions.focusSearch}>${icon("find")}</button>
    <button class="btn icon keys" aria-label="All keys" @click=${actions.help}>${icon("keys")}</button>
    <button class="btn icon" aria-label="Light or dark" @click=${actions.switchTheme}>${icon("theme")}</button>
  </header>`;
}

/** @param {Model} model */
export const titleOf = ({ metadata: { display } }) => showHidden(display.title) || "Session";

/** The search field. @param {Model} model @param {Record<string, () => void>} actions */
export function searchOf(model, actions) {
  const isSearching = model.filters.text !== "";
  const place =
    model.hits.length === 0
      ? "nothing found"
      : `${formatCount(model.currentHit + 1)} of ${formatCount(model.hits.length)}${model.hits.length > MAX_HITS ? "+" : ""}`;
  return html`<div class="find" role="search">
    ${icon("find")}<input
      type="search"
      placeholder="Search this session"
      aria-label="Search this session"
      autocomplete="off"
      spellcheck="false"
      .value=${model.query}
      @input=${(/** @type {InputEvent} */ { target }) => model.search(/** @type {HTMLInputElement} */ (target).value)}
    />
    ${
      isSearching
        ? html`<span class="n" role="status">${place}</span>
            <button class="btn icon s" aria-label="Previous hit" @click=${actions.previousHit}>${icon("up")}</button>
            <button class="btn icon s" aria-label="Next hit" @click=${actions.nextHit}>${icon("down")}</button>`
        : html`<kbd>/</kbd>`
    }
  </div>`;
}

/** @param {Model} model @param {Record<string, () => void>} actions */
export function stripOf(model, actions) {
  return model.query === "" ? totalsOf(model, actions) : filtersOf(model, actions);
}

/** @param {Model} model @param {Record<string, () => void>} actions */
function totalsOf(model, actions) {
  const { totals } = model.conversation;
  const { contextWindow } = model.metadata.provider;
  const span = formatSpan(totals.start, totals.end);
  const elsewhere = model.branches.all.length - totals.messages;
  return html`<div class="strip" role="region" aria-label="Totals" tabindex="0">
    <span class="tot"
      ><b>${formatCount(totals.messages)}</b>
      ${totals.messages === 1 ? "message" : "messages"}${elsewhere > 0 ? "," : ""}
      ${elsewhere > 0 ? html`<span>${formatCount(elsewhere)} on other branches</span>` : nothing}</span
    >
    ${span ? html`<span class="tot"><b>${span}</b></span>` : nothing} ${windowOf(totals.window, contextWindow)}
    ${tokensOf(model, actions)} ${filesOf(model, actions)}
    ${
      totals.calls > 0
        ? html`<button class="tot" title="Show only tool calls" @click=${() => model.search("role:tool")}>
            <b>${formatCount(totals.calls)}</b> ${totals.calls === 1 ? "tool call" : "tool calls"}
          </button>`
        : nothing
    }
    ${
      totals.failed > 0
        ? html`<button class="tot bad" title="Show only errors" @click=${() => model.search("is:error")}>
            <b>${formatCount(totals.failed)}</b> ${totals.failed === 1 ? "error" : "errors"}
          </button>`
        : nothing
    }
    ${
      model.damage.length > 0
        ? html`<button class="tot odd" @click=${actions.showDamage}><b>${model.damage.length}</b> damaged</button>`
        : nothing
    }
    ${
      model.lastRead?.isReached === false && model.lastRead.placeIn(model) !== undefined
        ? html`<button class="tot go" @click=${actions.toLastRead}>Where you left off</button>`
        : nothing
    }
    ${model.trouble ? html`<span class="tot bad" role="alert">${model.trouble}</span>` : nothing}
    ${model.isWhole ? nothing : html`<span class="tot">reading</span>`}
  </div>`;
}

/** @param {number} used @param {number} whole */
function windowOf(used, whole) {
  if (used === 0) return nothing;
  const of = whole > 0 ? ` of ${formatShort(whole)}` : "";
  const meter =
    whole > 0 ? html`<meter class="meter" max=${whole} value=${used} aria-label="Window"></meter>` : nothing;
  return html`<span class="tot"
    >Window ${meter}<span><b>${formatShort(used)}</b>${of}</span></span
  >`;
}

/** @param {Model} model @param {Record<string, () => void>} actions */
function tokensOf({ conversation: { totals } }, actions) {
  if (totals.input === 0) return html`<span class="tot">Tokens <b>${formatShort(totals.tokens)}</b></span>`;
  const cached = Math.round((100 * totals.cached) / totals.input);
  return html`<button class="tot" title="What each model took" @click=${actions.showUsage}>
    Tokens <span><b>${formatShort(totals.input)}</b> in</span>
    <span><b>${formatShort(totals.output)}</b> out${cached > 0 ? "," : ""}</span>
    ${cached > 0 ? html`<span><b>${cached} %</b> cached</span>` : nothing}
  </button>`;
}

/** @param {Model} model @param {Record<string, () => void>} actions */
function filesOf({ conversation: { totals } }, actions) {
  if (totals.files.size === 0) return nothing;
  let [added, removed] = [0, 0];
  for (const file of totals.files.values()) [added, removed] = [added + file.added, removed + file.removed];
  return html`<button class="tot" @click=${actions.showFiles}>
    <span><b>${totals.files.size}</b> ${totals.files.size === 1 ? "file" : "files"}</span>
    ${added > 0 ? html`<span class="plus">+${formatCount(added)}</span>` : nothing}
    ${removed > 0 ? html`<span class="minus">−${formatCount(removed)}</span>` : nothing}
  </button>`;
}
