// @ts-check
/** Markup of a page that no program renders: all that is put in is escaped and seen, unless it is such markup itself. */

import { showHidden } from "../viewer/hidden.js";
import { escapeMarkup, markupOf, splitMarkdown } from "../viewer/markup.js";

/** @typedef {Markup | string | number | undefined | readonly Markup[]} Part */

/** Markup that can be in the page as it is. */
export class Markup {
  /** @param {string} text */
  constructor(text) {
    this.text = text;
  }
}

/** @type {WeakMap<TemplateStringsArray, string[]>} */
const joined = new WeakMap();

/**
 * Makes markup from a template, whose line feeds and indents are not part of it.
 * @param {TemplateStringsArray} strings @param {Part[]} parts
 */
export function markup(strings, ...parts) {
  const own = joined.get(strings) ?? strings.map((string) => string.replace(/\n */g, ""));
  joined.set(strings, own);
  return new Markup(own.map((string, place) => (place === 0 ? "" : textOf(parts[place - 1])) + string).join(""));
}

/** @param {Part} part @returns {string} */
function textOf(part) {
  if (part instanceof Markup) return part.text;
  if (part instanceof Array) return part.map(textOf).join("");
  return part === undefined ? "" : escapeMarkup(showHidden(String(part)));
}

/** Longer Markdown is shown as it was written. */
const MAX_MARKDOWN = 200_000;

/** The tags that Markdown becomes, whole. Nothing else may begin with this sign: a quote or another one is escaped. */
const TAGS = new RegExp(
  [
    "</?(?:p|hr|br|h[3-6]|strong|em|del|code|pre|[uo]l|li|blockquote|table|thead|tbody|tr|t[hd]|span|div|a)>",
    '<a href="(?:https?:|mailto:)[^"<>]*" rel="noreferrer noopener" target="_blank">',
    '<(?:span|div|code|p) class="[\\w+#.-]+"(?: tabindex="0")?>',
    '<pre tabindex="0">',
    '<ol start="\\d+">',
  ].join("|"),
  "gi",
);

/** Renders Markdown. @param {string} text */
export function renderMarkdown(text) {
  const rendered = text.length > MAX_MARKDOWN ? "<" : splitMarkdown(text).map(markupOf).join("");
  // Whatever the renderer lets through: here it becomes text.
  return rendered.replace(TAGS, "").includes("<") ? markup`<div class="term wrap">${text}</div>` : new Markup(rendered);
}
