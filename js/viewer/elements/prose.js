// @ts-check
/** A text in Markdown; of a very long one its beginning, until more is asked for. */

import { html, nothing } from "lit";
import { formatCount } from "../format.js";
import { renderMarkdown } from "../markdown.js";
import { splitMarkdown } from "../markup.js";

/** @import { Row } from "../conversation.js" */
/** @import { Model } from "../model.js" */

/** @param {Model} model @param {Row} row @param {string} part @param {string} text @param {string} [kind] */
export function proseOf(model, row, part, text, kind = "") {
  const pieces = splitMarkdown(text);
  const count = model.isSearched(row, part) ? pieces.length : 1 + model.shownMore(row, part);
  const hidden = pieces.slice(count).reduce((sum, { length }) => sum + length, 0);
  return html`${pieces
    .slice(0, count)
    .map((piece) => html`<div class="prose ${kind}" data-part=${part} .innerHTML=${renderMarkdown(piece)}></div>`)}
  ${
    hidden === 0
      ? nothing
      : html`<button class="more" @click=${() => model.showMore(row, part, 1)}>
          Show more: ${formatCount(hidden)} characters are not shown
        </button>`
  }`;
}
