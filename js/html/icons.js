// @ts-check
/** The icons of the plain page: some of js/viewer/elements/icons.js, whose library needs a document. */

import { markup } from "./markup.js";

const SHAPES = {
  chevron: markup`<path d="m6 4 4 4-4 4"/>`,
  done: markup`<path d="m3.5 8.5 3 3 6-7"/>`,
  failed: markup`<path d="m4 4 8 8M12 4l-8 8"/>`,
  agent: markup`<circle cx="8" cy="4" r="2"/><circle cx="4" cy="12" r="2"/><circle cx="12" cy="12" r="2"/>
    <path d="M8 6v2M4 10V9q0-1 1-1h6q1 0 1 1v1"/>`,
  fold: markup`<path d="M8 1.8v4.4M5.8 4.4 8 6.4l2.2-2M8 14.2V9.8M5.8 11.6 8 9.6l2.2 2M2 8h1.2M5 8h1.2M7.4 8h1.2M9.8 8H11M12.8 8H14"/>`,
  waiting: markup`<path d="M8 2.5a5.5 5.5 0 1 1-5.2 3.7"/>`,
};

/** @param {keyof typeof SHAPES} name @param {string} [kind] a class */
export const icon = (name, kind = "") =>
  markup`<svg class="i ${kind}" viewBox="0 0 16 16" aria-hidden="true">${SHAPES[name]}</svg>`;

/** The bookmark of leftoff. */
export const BRAND = markup`<span class="brand"><svg viewBox="0 0 14 20" aria-hidden="true">
  <path d="M0 1.5A1.5 1.5 0 0 1 1.5 0h11A1.5 1.5 0 0 1 14 1.5V20l-7-5-7 5Z"/>
</svg></span>`;
