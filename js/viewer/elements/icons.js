// @ts-check
/** The page's icons, 16 by 16. */

import { html, svg } from "lit";

const SHAPES = {
  chevron: svg`<path d="m6 4 4 4-4 4"/>`,
  done: svg`<path d="m3.5 8.5 3 3 6-7"/>`,
  failed: svg`<path d="m4 4 8 8M12 4l-8 8"/>`,
  agent: svg`<circle cx="8" cy="4" r="2"/><circle cx="4" cy="12" r="2"/><circle cx="12" cy="12" r="2"/><path
    d="M8 6v2M4 10V9q0-1 1-1h6q1 0 1 1v1"/>`,
  eye: svg`<path d="M1.8 8S4 3.8 8 3.8 14.2 8 14.2 8 12 12.2 8 12.2 1.8 8 1.8 8Z"/><circle cx="8" cy="8" r="1.9"/>`,
  close: svg`<path d="m4 4 8 8M12 4l-8 8"/>`,
  find: svg`<circle cx="7" cy="7" r="4.25"/><path d="m10.5 10.5 3 3"/>`,
  up: svg`<path d="m4 10 4-4 4 4"/>`,
  down: svg`<path d="m4 6 4 4 4-4"/>`,
  theme: svg`<circle cx="8" cy="8" r="5.5"/><path d="M8 2.5v11a5.5 5.5 0 0 0 0-11Z" fill="currentColor"/>`,
  fold: svg`<path d="M8 1.8v4.4M5.8 4.4 8 6.4l2.2-2M8 14.2V9.8M5.8 11.6 8 9.6l2.2 2M2 8h1.2M5 8h1.2M7.4 8h1.2M9.8 8H11M12.8 8H14"/>`,
  list: svg`<path d="M2.5 4h11M2.5 8h7M2.5 12h9"/>`,
  file: svg`<path d="M4 2h5l3 3v9H4z"/>`,
  keys: svg`<path d="M2 4.5h12v7H2zM4.5 7h.1M7 7h.1M9.5 7h.1M11.8 7h.1M5 9.3h6"/>`,
  waiting: svg`<path d="M8 2.5a5.5 5.5 0 1 1-5.2 3.7"/>`,
  fork: svg`<path d="M4 2.5v11M4 8h4q4 0 4-4V2.5"/>`,
  damaged: svg`<path d="M3 2.5h6l4 4v7H3zM5 9l1.5 1.2L8 9l1.5 1.2L11 9"/>`,
};

/** @param {keyof typeof SHAPES} name @param {string} [kind] a class */
export const icon = (name, kind = "") =>
  svg`<svg class="i ${kind}" viewBox="0 0 16 16" aria-hidden="true">${SHAPES[name]}</svg>`;

/** The bookmark of leftoff. */
const brand = svg`<svg viewBox="0 0 14 20" aria-hidden="true"><path
  d="M0 1.5A1.5 1.5 0 0 1 1.5 0h11A1.5 1.5 0 0 1 14 1.5V20l-7-5-7 5Z"/></svg>`;

/** The bookmark, as a link to a list of sessions if there is one. @param {string | undefined} address */
export const brandOf = (address) =>
  address === undefined
    ? html`<span class="brand">${brand}</span>`
    : html`<a class="brand" href=${address} aria-label="All sessions" title="All sessions">${brand}</a>`;
