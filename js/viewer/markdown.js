// @ts-check
/** Markdown as nodes that can do nothing: no script, no request, no style. */

import DOMPurify from "dompurify";
import { LINK, markupOf } from "./markup.js";
import { pagePolicy } from "./trusted-types.js";

/** What Markdown makes, and nothing else. */
const TAGS =
  "p br hr h3 h4 h5 h6 strong em del code pre ul ol li blockquote table thead tbody tr th td a span div".split(" ");
const PLAIN_ATTRIBUTES = ["rel", "target", "class", "start", "tabindex"];

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
  const made = purify(markupOf(text));
  if (rendered.size >= MAX_RENDERED) rendered.delete(/** @type {string} */ (rendered.keys().next().value));
  rendered.set(text, made);
  return made;
}

/** Removes from markup all that is not on the list. @param {string} html @returns {PureHtml} */
export function purify(html) {
  return /** @type {any} */ (
    DOMPurify.sanitize(html, {
      ALLOWED_TAGS: TAGS,
      ALLOWED_ATTR: ["href", ...PLAIN_ATTRIBUTES],
      // Else they are held to be addresses, and dropped.
      ADD_URI_SAFE_ATTR: PLAIN_ATTRIBUTES,
      ALLOW_DATA_ATTR: false,
      ALLOW_ARIA_ATTR: false,
      ALLOWED_URI_REGEXP: LINK,
      RETURN_TRUSTED_TYPE: true,
      TRUSTED_TYPES_POLICY: pagePolicy(),
    })
  );
}
