// @ts-check
/** The panel that says what the session's model calls took, by model. */

import { html, nothing } from "lit";
import { formatCost, formatMany, formatModel, formatShort } from "../format.js";
import { showHidden } from "../hidden.js";
import { sumByModel } from "../usage.js";

/** @import { Model } from "../model.js" */
/** @import { ModelUsage } from "../usage.js" */

/** All branches were paid for, and sub-agents. @param {Model} model */
export function usageOf(model) {
  const children = [...model.children.values()].flatMap(({ rows }) => rows.map(({ message }) => message));
  const sums = sumByModel([...model.branches.all, ...children]);
  if (sums.length === 0) return html`<p class="note">No answer says what it took.</p>`;
  const priced = sums.filter(({ listedOn }) => listedOn !== undefined);
  const unpriced = sums.filter((sum) => sum.unpriced > 0);
  return html`${sums.length > 1 ? totalOf(sums) : nothing} ${sums.map(modelOf)}
    <p class="note">
      ${priced.length > 0 ? `Costs by the list of prices of ${priced[0].listedOn}.` : nothing}
      ${
        unpriced.length > 0
          ? `No price is listed for ${unpriced.map(({ model: name }) => showHidden(name) || "calls without a model").join(", ")}.`
          : nothing
      }
      ${model.children.size > 0 ? `With ${formatMany(model.children.size, "sub-agent")}.` : nothing}
    </p>`;
}

/** @param {readonly ModelUsage[]} sums */
function totalOf(sums) {
  const [cost, calls] = [sums.reduce((sum, one) => sum + one.cost, 0), sums.reduce((sum, one) => sum + one.calls, 0)];
  const isPriced = sums.some(({ listedOn }) => listedOn !== undefined);
  const lacks = sums.some(({ unpriced }) => unpriced > 0);
  return html`<dl class="use total">
    <dt>All models</dt>
    <dd class="cost">${isPriced ? `${formatCost(cost)}${lacks ? "+" : ""}` : "no price"}</dd>
    <dd>${formatMany(calls, "call")}</dd>
  </dl>`;
}

/** @param {ModelUsage} sum */
function modelOf({ model, calls, sent, output, cacheRead, cacheWrite, cost, listedOn }) {
  const cached = sent > 0 ? Math.round((100 * cacheRead) / sent) : 0;
  return html`<dl class="use" title=${showHidden(model)}>
    <dt>${showHidden(formatModel(model)) || "No model"}</dt>
    <dd class="cost">${listedOn === undefined ? "no price" : formatCost(cost)}</dd>
    <dd>${formatMany(calls, "call")}</dd>
    <dd><b>${formatShort(sent)}</b> in</dd>
    <dd><b>${formatShort(output)}</b> out</dd>
    ${cacheRead > 0 ? html`<dd><b>${formatShort(cacheRead)}</b> from the cache, ${cached} %</dd>` : nothing}
    ${cacheWrite > 0 ? html`<dd><b>${formatShort(cacheWrite)}</b> into the cache</dd>` : nothing}
  </dl>`;
}
