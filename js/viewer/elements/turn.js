// @ts-check
/** A turn as one line. */

import { html, nothing } from "lit";
import { formatMany, formatShort } from "../format.js";
import { icon } from "./icons.js";

/** @import { Turn } from "../conversation.js" */
/** @import { Model } from "../model.js" */

/** What the line of a folded turn is called, for whoever hears it. @param {Turn} turn */
export const foldedNameOf = ({ number, failed }) => `Turn ${number}, folded${failed > 0 ? ", failed" : ""}`;

/** @param {Model} model @param {Turn} turn @param {{ isApart: boolean, open: () => void }} line `isApart`: no other is above it */
export function foldedOf(model, turn, { isApart, open }) {
  const { number, title, messageCount, edits, failed, tokens, firstRow, lastRow } = turn;
  const hits = model.hits.countIn(firstRow, lastRow);
  return html`<div class="folded ${isApart ? "apart" : ""}">
    <div class="g"><span class="num">${number}</span></div>
    <button aria-expanded="false" @click=${open}>
      ${icon("chevron", "tw")}<span class="x"><span class="num inline">${number}</span> ${title}</span>
      <span class="m">
        ${hits > 0 ? html`<span class="hits">${formatMany(hits, "hit")}</span>` : nothing}
        <span>${formatMany(messageCount, "message")}</span>
        ${edits > 0 ? html`<span>${formatMany(edits, "edit")}</span>` : nothing}
        ${failed > 0 ? html`<span class="e">${formatMany(failed, "error")}</span>` : nothing}
        ${tokens > 0 ? html`<span>${formatShort(tokens)} tokens</span>` : nothing}
      </span>
    </button>
  </div>`;
}
