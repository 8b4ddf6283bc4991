// @ts-check
// Markdown in the viewer as CommonMark's specification has it, with what the viewer does otherwise, said as law.
// Tries: js/viewer/markdown.js, js/viewer/hidden.js, js/viewer/elements/prose.js

// @ts-expect-error it has no types
import { HtmlRenderer, Parser } from "commonmark";
// @ts-expect-error nor has this
import { tests as examples } from "commonmark-spec";

/** @typedef {{ level: number, destination: string | null, firstChild: object | null }} Parsed a node of the parser */

const LIVE = /^(?:https?:|mailto:)/i;
/**
 * What the viewer does otherwise: it shows raw HTML as text, fetches no image, follows no address but the web's and
 * mail's, and begins headings below those of messages. Written as a renderer of CommonMark's reference implementation.
 */
class PolicyRenderer extends /** @type {new () => any} */ (HtmlRenderer) {
  /** @param {Parsed} node */
  html_inline = (node) => this.text(node);

  /** @param {Parsed} node */
  html_block(node) {
    this.tag("p");
    this.text(node);
    this.tag("/p");
  }

  /** @param {Parsed} node @param {boolean} entering */
  heading(node, entering) {
    this.tag(`${entering ? "" : "/"}h${Math.min(node.level + 2, 6)}`);
  }

  /** @param {Parsed} node @param {boolean} entering */
  link(node, entering) {
    if (this.disableTags > 0) return;
    if (LIVE.test(node.destination ?? ""))
      return this.tag(entering ? "a" : "/a", entering ? [["href", this.esc(node.destination ?? "")]] : []);
    if (!entering) this.lit(this.esc(` (${node.destination})`));
    this.tag(entering ? "span" : "/span");
  }

  /** @param {Parsed} node @param {boolean} entering */
  image(node, entering) {
    this.disableTags += entering ? 1 : -1;
    if (entering) return this.disableTags === 1 ? this.lit("<span>[image: ") : undefined;
    const comma = node.firstChild ? ", " : "";
    if (this.disableTags === 0) this.lit(`${comma}${this.esc(node.destination ?? "")}]</span>`);
  }
}

/** What the law says of a text. @param {string} markdown */
export function lawfulHtml(markdown) {
  return new PolicyRenderer().render(new Parser().parse(markdown));
}
/** @type {{ markdown: string, html: string, number: number }[]} */
export const EXAMPLES = examples;

/**
 * Brings markup to one form, in a page without the viewer's policy: elements, addresses and texts, without what colors
 * code, captions and spaces that do not show.
 * @param {string[]} markups
 */
export function normalize(markups) {
  const BLOCKS = /^(?:P|H\d|PRE|UL|OL|LI|BLOCKQUOTE|HR|TABLE|THEAD|TBODY|TR|TD|TH|DIV|BODY|BR)$/;
  /** @param {string} text */
  const decode = (text) => {
    try {
      return decodeURI(text);
    } catch {
      return text;
    }
  };
  /** @param {Node} node @param {boolean} isPre @returns {string} */
  const write = (node, isPre) => {
    if (node.nodeType === 3) {
      const text = node.nodeValue ?? "";
      return isPre ? text : text.replace(/[ \t\n]+/g, " ");
    }
    const element = /** @type {Element} */ (/** @type {unknown} */ (node));
    if (element.classList.contains("cap")) return "";
    const name = element.tagName;
    const inner = [...element.childNodes]
      .map((child) => write(/** @type {any} */ (child), isPre || name === "PRE"))
      .join("");
    if (name === "DIV" || (name === "SPAN" && isPre) || (name === "CODE" && isPre)) return inner;
    const text = isPre
      ? inner
      : inner.replace(/\s*(<\/?(?:p|h\d|pre|ul|ol|li|blockquote|hr|br|table|thead|tbody|tr|td|th)\b[^>]*>)\s*/g, "$1");
    if (name === "BODY") return text.trim();
    const shown = BLOCKS.test(name) && !isPre && name !== "PRE" ? text.trim() : text;
    const href = element.getAttribute("href");
    const start = element.getAttribute("start");
    const about = `${href === null ? "" : ` href=${decode(href)}`}${start === null ? "" : ` start=${start}`}`;
    const tag = name.toLowerCase();
    return `<${tag}${about}>${name === "SPAN" ? decode(shown) : shown}</${tag}>`;
  };
  return markups.map((markup) =>
    write(/** @type {any} */ (new DOMParser().parseFromString(markup, "text/html").body), false),
  );
}
