// @ts-check
/** Markdown as markup, without a document: what it says is escaped, and links lead to the web or to a mail. */

import { Marked } from "marked";

export const LINK = /^(?:https?:|mailto:)/i;

/** @type {Record<string, string>} */
const ENTITIES = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };
/** Text as markup that shows it. @param {string} text */
export const escapeMarkup = (text) => text.replace(/[&<>"']/g, (sign) => ENTITIES[sign]);

const marked = new Marked({
  gfm: true,
  renderer: {
    // A transcript's markup is what was said, and is shown as that.
    html: ({ text }) => escapeMarkup(text),
    // Behind the tag of a script or of code, marked gives what is no tag as it is.
    text: ({ text, ...token }) => ("escaped" in token && token.escaped ? escapeMarkup(text) : false),
    image: ({ href, text }) =>
      `<span class="remote">[image: ${escapeMarkup(text || href)}, ${escapeMarkup(href)}]</span>`,
    heading({ tokens, depth }) {
      const level = Math.min(depth + 2, 6);
      return `<h${level}>${this.parser.parseInline(tokens)}</h${level}>`;
    },
    link({ href, tokens }) {
      const text = this.parser.parseInline(tokens);
      if (!LINK.test(href)) return `<span class="dead">${text} (${escapeMarkup(href)})</span>`;
      return `<a href="${escapeMarkup(href)}" rel="noreferrer noopener" target="_blank">${text}</a>`;
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

/** Renders Markdown as markup, which whoever shows it checks. @param {string} text */
export const markupOf = (text) => /** @type {string} */ (marked.parse(text, { async: false }));
