// @ts-check
/** Markdown as markup, without a document: what it says is escaped, and links lead to the web or to a mail. */

import { Marked } from "marked";
import { showHidden } from "./hidden.js";

export const LINK = /^(?:https?:|mailto:)/i;

/** @type {Record<string, string>} */
const ENTITIES = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };
/** Text as markup that shows it. @param {string} text */
export const escapeMarkup = (text) => text.replace(/[&<>"']/g, (sign) => ENTITIES[sign]);
/** Escapes a text in which Markdown has left the names of signs as they are. @param {string} text */
const escapeNamed = (text) =>
  text.replace(/[<>"']|&(?!(?:#\d{1,7}|#[Xx][\da-fA-F]{1,6}|\w+);)/g, (sign) => ENTITIES[sign]);

const marked = new Marked({
  gfm: true,
  renderer: {
    // A transcript's markup is what was said, and is shown as that.
    html: ({ text, block }) => (block ? plainOf(text.trimEnd()) : escapeMarkup(text)),
    // Behind a tag that Markdown knows, as <script>, marked takes texts for escaped.
    text(token) {
      return "tokens" in token && token.tokens ? this.parser.parseInline(token.tokens) : escapeNamed(token.text);
    },
    image({ href, text, tokens }) {
      const alt = tokens ? this.parser.parseInline(tokens, this.parser.textRenderer) : text;
      const shown = [alt && escapeMarkup(alt), escapeNamed(href)].filter(Boolean).join(", ");
      return `<span class="remote">[image: ${shown}]</span>`;
    },
    heading({ tokens, depth }) {
      const level = Math.min(depth + 2, 6);
      return `<h${level}>${this.parser.parseInline(tokens)}</h${level}>`;
    },
    link({ href, tokens }) {
      const text = this.parser.parseInline(tokens);
      if (!LINK.test(href)) return `<span class="dead">${text} (${escapeNamed(href)})</span>`;
      return `<a href="${escapeNamed(href)}" rel="noreferrer noopener" target="_blank">${text}</a>`;
    },
    code({ text, lang }) {
      const language = (lang ?? "").split(/\s/)[0].replace(/[^\w+#.-]/g, "");
      const caption = language === "" ? "text" : escapeMarkup(language);
      return (
        `<div class="code"><div class="cap"><span>${caption}</span></div>` +
        `<pre tabindex="0"><code class="language-${caption}">${escapeMarkup(text)}</code></pre></div>`
      );
    },
    table(token) {
      const row = (/** @type {import("marked").Tokens.TableCell[]} */ cells, /** @type {string} */ tag) =>
        `<tr>${cells.map(({ tokens }) => `<${tag}>${this.parser.parseInline(tokens)}</${tag}>`).join("")}</tr>`;
      const body = token.rows.map((cells) => row(cells, "td")).join("");
      return `<div class="wide" tabindex="0"><table><thead>${row(token.header, "th")}</thead><tbody>${body}</tbody></table></div>`;
    },
    checkbox: ({ checked }) => (checked ? "☑ " : "☐ "),
  },
});

/** More at once stays plain: there are texts for which marked's time grows with the square of their length. */
const MAX_CHARACTERS = 30_000;
const FENCE = /^ {0,3}(`{3,}|~{3,}).*$/gm;

/** Renders Markdown as markup, which whoever shows it checks. @param {string} written */
export function markupOf(written) {
  const text = showHidden(written);
  if (text.length > 2 * MAX_CHARACTERS) return plainOf(text);
  try {
    return /** @type {string} */ (marked.parse(text, { async: false }));
  } catch {
    // Nested too deep for its stack.
    return plainOf(text);
  }
}

/** @param {string} text */
const plainOf = (text) => `<p class="plain">${escapeMarkup(text)}</p>`;

/**
 * Cuts Markdown into pieces that are rendered one by one: between paragraphs where there are some, else between lines.
 * A block of code that is cut goes on as code.
 * @param {string} text
 * @returns {string[]} one for a text of usual length
 */
export function splitMarkdown(text) {
  const pieces = [];
  let fence = "";
  for (let start = 0; start < text.length || pieces.length === 0;) {
    const end = endOfPiece(text, start);
    const piece = fence + text.slice(start, end);
    pieces.push(piece);
    fence = openFence(piece);
    start = end;
  }
  return pieces;
}

/** @param {string} text @param {number} start */
function endOfPiece(text, start) {
  const end = start + MAX_CHARACTERS;
  if (end >= text.length) return text.length;
  for (const between of ["\n\n", "\n"]) {
    const place = text.lastIndexOf(between, end - between.length);
    if (place > start + MAX_CHARACTERS / 2) return place + between.length;
  }
  return /[\ud800-\udbff]/.test(text[end - 1]) ? end - 1 : end;
}

/** The line that opens the block of code in which a text ends. @param {string} text */
function openFence(text) {
  let [open, line] = ["", ""];
  for (const [whole, signs] of text.matchAll(FENCE)) {
    if (open === "") [open, line] = [signs, `${whole}\n`];
    else if (signs.startsWith(open) && whole.trim() === signs) [open, line] = ["", ""];
  }
  return line;
}
