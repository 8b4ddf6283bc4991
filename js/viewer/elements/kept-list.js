// @ts-check
/** The sessions that the browser keeps: to be opened, and to be removed once that was confirmed. */

import { html, nothing } from "lit";
import { showHidden } from "../hidden.js";
import { icon } from "./icons.js";
import { recordOf } from "./record.js";

/** @import { Listed } from "../../index.js" */

/**
 * @typedef {object} KeptActions
 * @property {string | undefined} asked the id of the session that is asked about
 * @property {(id?: string) => void} ask
 * @property {(id: string) => void} remove
 */

/** @param {Listed[]} listed @param {KeptActions} actions */
export function keptOf(listed, actions) {
  if (listed.length === 0) return nothing;
  return html`<h2 class="kept-head" tabindex="-1">Kept in this browser</h2>
    <ul class="recs">
      ${listed.map((one) => html`<li class="kept" data-id=${one.id}>${rowOf(one, actions)}</li>`)}
    </ul>`;
}

/** @param {Listed} listed @param {KeptActions} actions */
function rowOf(listed, { asked, ask, remove }) {
  const { id } = listed;
  const title = showHidden(listed.title) || "Session";
  if (asked !== id)
    return html`${recordOf(listed)}
      <button class="btn icon" aria-label=${`Remove “${title}”`} title="Remove" @click=${() => ask(id)}>
        ${icon("close")}
      </button>`;
  const cancel = (/** @type {KeyboardEvent} */ { key }) => key === "Escape" && ask();
  return html`<div class="ask" role="group" aria-label="Remove a session" @keydown=${cancel}>
    <p>Remove “${title}” from this browser?</p>
    <button class="btn line" @click=${() => remove(id)}>Remove</button>
    <button class="btn line" data-cancel @click=${() => ask()}>Cancel</button>
  </div>`;
}
