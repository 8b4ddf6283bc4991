// @ts-check
/** The panel "What the model saw": one context, or two of them beside each other. */

import { html, nothing } from "lit";
import { PART_WORDS, assumedWords, formatDollars, formatShare, frameWords, rejectedWords } from "../build-words.js";
import { answerTo, cachedOf, divideWindow, sentTokens } from "../builds.js";
import { formatCount, formatMany, formatTime } from "../format.js";
import { OWN_KEY, SENT_KEY, WINDOWS } from "../inspector.js";
import { compareOf } from "./compare.js";
import { icon } from "./icons.js";
import { listOf } from "./inspector-list.js";
import { tabsOf } from "./tabs.js";

/** @import { Build, WindowPart } from "../builds.js" */
/** @import { Model } from "../model.js" */

/** What the panel does beside its own. @typedef {{ close: () => void, go: (row: number) => void }} Doing */

const VIEWS = /** @type {const} */ ({ build: "This context", compare: "Compare" });
/** The order of the parts in words. */
const LEGEND = ["kept", "shortened", "summary", "recall", "tools", "system", "unused", "reserve"];

/** @param {Model} model @param {Doing} doing */
export function inspectorOf(model, doing) {
  const { inspector } = model;
  const tabs = tabsOf(VIEWS, {
    prefix: "view",
    panel: "build",
    chosen: inspector.view,
    choose: (name) => inspector.show(name),
  });
  return html`<section class="insp" aria-label="What the model saw">
    <header>
      <h2>
        What the model saw<button class="btn icon s" aria-label="Close" @click=${doing.close}>${icon("close")}</button>
      </h2>
      <div class="tabs">
        <span role="tablist" aria-label="Views">${tabs}</span>
        ${inspector.view === "build" ? pickOf(model, "chosen", "Context") : nothing}
      </div>
    </header>
    <div class="scroll" id="build" role="tabpanel" aria-label=${VIEWS[inspector.view]} tabindex="0">
      ${
        inspector.isAsked
          ? inspector.view === "compare"
            ? compareOf(model, doing)
            : buildOf(model, doing)
          : html`<p class="note">reading</p>`
      }
    </div>
  </section>`;
}

/**
 * The choice of a context.
 * @param {Model} model @param {"chosen" | "before" | "after"} which @param {string} label
 */
export function pickOf({ inspector }, which, label) {
  const sent = inspector.builds.get(SENT_KEY);
  const choices = [
    ...(inspector.hasSent ? [[SENT_KEY, `Last sent, ${formatTime(sent?.at)}`]] : []),
    [OWN_KEY, "Preview, the same window"],
    ...WINDOWS.map((window) => [String(window), `Preview, ${formatCount(window)}`]),
  ];
  return html`<span class="pick"
    ><select
      aria-label=${label}
      @change=${(/** @type {Event} */ { target }) =>
        inspector.choose(which, /** @type {HTMLSelectElement} */ (target).value)}
    >
      ${choices.map(
        ([key, text]) => html`<option value=${key} ?selected=${inspector[which] === key}>${text}</option>`,
      )}</select
    >${icon("down")}</span
  >`;
}

/** @param {Model} model @param {Doing} doing */
function buildOf(model, doing) {
  const { inspector } = model;
  const { build } = inspector;
  const trouble = inspector.troubles.get(inspector.chosen);
  if (trouble) return html`<p class="note" role="alert">${trouble}</p>`;
  if (!build) return html`<p class="note">building</p>`;
  const parts = divideWindow(build, model.messages);
  const answer = answerTo(build, model.messages);
  const window = build.result.report.budget.modelContextWindow;
  return html`${inspector.hasSent ? nothing : html`<p class="told-so">What was sent to a model is not recorded.</p>`}
    ${
      build.at === undefined
        ? html`<p class="told-so">
            A preview: what a call would get now, without the system prompt and the tools, whose texts are not recorded.
          </p>`
        : nothing
    }
    <div class="big">
      ${formatCount(sentTokens(build))}
      <small
        >of ${formatCount(window)}
        tokens${
          build.at === undefined ? "" : ` sent${answer ? `, for message ${formatCount(answer.place + 1)}` : ""}`
        }</small
      >
    </div>
    ${barOf(build, parts, window)} ${bracketOf(model, build, window)} ${legendOf(build, parts)} ${factsOf(model, build)}
    ${listOf(model, build, doing)}`;
}

/**
 * The window as a bar.
 * @param {Build} build @param {WindowPart[]} parts @param {number} scale the tokens of the whole width
 */
export function barOf(build, parts, scale) {
  const shown = parts.filter(({ tokens }) => tokens > 0);
  const words = shown.map(({ name, tokens }) => `${PART_WORDS[name]} ${formatCount(tokens)}`).join(", ");
  return html`<div class="bar" role="img" aria-label="Window by part: ${words}">
    ${shown.map(
      ({ name, tokens }) =>
        html`<i class="b-${name}" data-tokens=${tokens} .style=${`width:${(100 * tokens) / scale}%`}></i>`,
    )}
  </div>`;
}

/** What the provider had in its cache, below the bar. @param {Model} model @param {Build} build @param {number} window */
function bracketOf(model, build, window) {
  const cached = cachedOf(build, model.messages);
  const width = cached ? Math.min((100 * cached.tokens) / window, 100) : 0;
  return html`<div class="cache" aria-hidden="true">
    ${width > 0 ? html`<i .style=${`width:${width}%`}></i>` : nothing}
  </div>`;
}

/** @param {Build} build @param {WindowPart[]} parts */
function legendOf({ at }, parts) {
  // A preview is built without them: that they cost nothing is not what a model would see.
  const isUnknown = (/** @type {string} */ name) => at === undefined && (name === "system" || name === "tools");
  const ordered = LEGEND.map((name) => /** @type {WindowPart} */ (parts.find((part) => part.name === name)));
  return html`<dl class="legend">
    ${ordered
      .filter(({ name, tokens }) => name !== "recall" || tokens > 0)
      .map(
        (part) =>
          html`<div>
            <dt><i class="b-${part.name}"></i>${PART_WORDS[part.name]}</dt>
            <dd>
              ${
                isUnknown(part.name)
                  ? html`<span class="d">not recorded</span>`
                  : html`<span class="d">${detailOf(part, parts)}</span
                      ><span class="v">${formatCount(part.tokens)}</span>`
              }
            </dd>
          </div>`,
      )}
  </dl>`;
}

/** @param {WindowPart} part @param {WindowPart[]} parts */
function detailOf({ name, tokens, count, from }, parts) {
  if (name === "summary") return count > 0 ? `of ${formatCount(count)}, from ${formatCount(from ?? 0)}` : "";
  if (name === "shortened") return count > 0 ? `${formatCount(count)}, from ${formatCount(from ?? 0)}` : "";
  if (name === "kept" || name === "recall") return formatCount(count);
  const whole = parts.reduce((sum, part) => sum + part.tokens, 0);
  return name === "reserve" && tokens * 4 === whole ? "a quarter" : "";
}

/** @param {Model} model @param {Build} build */
function factsOf(model, build) {
  const { strategy, report } = build.result;
  const fact = (/** @type {string} */ name, /** @type {unknown} */ value, /** @type {unknown} */ more = "") =>
    html`<div>
      <dt>${name}</dt>
      <dd>${value}${more ? html`<span>${more}</span>` : nothing}</dd>
    </div>`;
  const [frame, why] = frameWords(build);
  return html`<dl class="facts">
    ${fact("Strategy", strategy, rejectedWords(report))} ${fact("Frame", frame, why)}
    ${fact("Cached", ...cachedWords(model, build))} ${fact("Cost", ...costWords(build))}
    ${fact("Counted by", report.encoding, assumedWords(report))}
  </dl>`;
}

/** @param {Model} model @param {Build} build @returns {[string, string]} */
function cachedWords(model, build) {
  const cached = cachedOf(build, model.messages);
  if (!cached) return ["Not recorded", build.at === undefined ? "A preview was never sent." : ""];
  const amount = `${formatMany(cached.tokens, "token")}, ${formatShare(cached.tokens, sentTokens(build))}`;
  if (cached.isReported) return [amount, "As the provider reported."];
  return [
    amount,
    "Unchanged since the context before, so the provider may have had it; its own count is not recorded.",
  ];
}

/** @param {Build} build @returns {[string, string]} */
function costWords({ at, result: { report } }) {
  const cost = report.cache?.cost;
  if (!cost)
    return ["Not recorded", at === undefined ? "A preview was never sent." : "No price of the model was known."];
  const list = cost.listedOn ? `By the price list of ${cost.listedOn}.` : "By the prices of the request.";
  const words = `${formatDollars(cost.cached)} with the cache, ${formatDollars(cost.uncached)} without`;
  return [words, `Of the input alone. ${list}`];
}
