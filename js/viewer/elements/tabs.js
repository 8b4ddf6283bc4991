// @ts-check
/** The tabs over a panel. */

import { html } from "lit";

/**
 * @template {string} Name
 * @param {Readonly<Record<Name, string>>} names the tabs' words
 * @param {{ prefix: string, panel: string, chosen: Name, choose: (name: Name) => void }} how `panel`: the id of what they
 *   change
 */
export function tabsOf(names, { prefix, panel, chosen, choose }) {
  return /** @type {[Name, string][]} */ (Object.entries(names)).map(
    ([name, text]) =>
      html`<button
        class="tab"
        role="tab"
        id="${prefix}-${name}"
        aria-selected=${chosen === name}
        aria-controls=${panel}
        @click=${() => choose(name)}
      >
        ${text}
      </button>`,
  );
}
