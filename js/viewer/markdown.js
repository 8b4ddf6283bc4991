// @ts-check
/** Markdown as nodes that can do nothing: no script, no request, no style. */

import DOMPurify from "dompurify";
import { Marked } from "marked";

/** What Markdown makes, and nothing else. */
const TAGS =
  "p br hr h3 h4 h5 h6 strong em del code pre ul ol li blockquote table thead tbody tr th td a span div input".split(
    " ",
  );
const ATTRIBUTES = ["href", "rel", "target", "class", "start", "type", "checked", "disabled", "tabindex", "align"];
const LINK = /^(?:https?:|mailto:)/i;

/** @type {Record<string, string>} */
const ENTITIES = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };
/** @param {string} text */
const escape = (text) => text.replace(/[&<>"']/g, (sign) => ENTITIES[sign]);

const marked = new Marked({
  gfm: true,
  renderer: {
    // A transcript's markup is what was said, and is shown as that.
    html: ({ text }) => escape(text),
    image: ({ href, text }) => `<span class="remote">[image: ${escape(text || href)}, ${escape(href)}]</span>`,
    heading({ tokens, depth }) {
      const level = Math.min(depth + 2, 6);
      return `<h${level}>${this.parser.parseInline(tokens)}</h${level}>`;
    },
    link({ href, tokens }) {
      const text = this.parser.parseInline(tokens);
      if (!LINK.test(href)) return `<span class="dead">${text} (${escape(href)})</span>`;
      return `<a href="${escape(href)}" rel="noreferrer noopener" target="_blank">${text}</a>`;
    },
    code({ text, lang }) {
      const language = (lang ?? "").split(/\s/)[0].replace(/[^\w+#.-]/g, "");
      const caption = language === "" ? "text" : escape(language);
      return (
        `<div class="code"><div class="cap"><span>${caption}</span></div>` +
        `<pre tabindex="0"><code class="language-${caption}">${escape(text)}</code></pre></div>`
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

/** Markup that the sanitizer has passed. @typedef {string & { readonly purified: unique symbol }} PureHtml */

/** @type {Map<string, PureHtml>} */
const rendered = new Map();
const MAX_RENDERED = 500;

/**
 * Renders Markdown, once for each text that was shown lately.
 * @param {string} text
 * @returns {PureHtml}
 */
export function renderMarkdown(text) {
  const known = rendered.get(text);
  if (known) return known;
  const made = purify(/** @type {string} */ (marked.parse(text, { async: false })));
  if (rendered.size >= MAX_RENDERED) rendered.delete(/** @type {string} */ (rendered.keys().next().value));
  rendered.set(text, made);
  return made;
}

/** Removes from markup all that is not on the list. @param {string} html @returns {PureHtml} */
export function purify(html) {
  return /** @type {any} */ (
    DOMPurify.sanitize(html, {
      ALLOWED_TAGS: TAGS,
      ALLOWED_ATTR: ATTRIBUTES,
      ALLOW_DATA_ATTR: false,
      ALLOW_ARIA_ATTR: false,
      ALLOWED_URI_REGEXP: LINK,
      RETURN_TRUSTED_TYPE: true,
    })
  );
}
