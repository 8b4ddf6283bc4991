// @ts-check
/** Colors code when nothing else is to be done: it changes colors, never sizes. */

import hljs from "highlight.js/lib/core";
import bash from "highlight.js/lib/languages/bash";
import cpp from "highlight.js/lib/languages/cpp";
import css from "highlight.js/lib/languages/css";
import diff from "highlight.js/lib/languages/diff";
import go from "highlight.js/lib/languages/go";
import java from "highlight.js/lib/languages/java";
import javascript from "highlight.js/lib/languages/javascript";
import json from "highlight.js/lib/languages/json";
import python from "highlight.js/lib/languages/python";
import rust from "highlight.js/lib/languages/rust";
import sql from "highlight.js/lib/languages/sql";
import typescript from "highlight.js/lib/languages/typescript";
import xml from "highlight.js/lib/languages/xml";
import yaml from "highlight.js/lib/languages/yaml";
import { purify } from "./markdown.js";

const LANGUAGES = { bash, cpp, css, diff, go, java, javascript, json, python, rust, sql, typescript, xml, yaml };
for (const [name, language] of Object.entries(LANGUAGES)) hljs.registerLanguage(name, language);
/** Longer code, and code of longer lines, stays as it is: the time of patterns grows with the square of a line. */
const MAX_CHARACTERS = 20_000;
const LONG_LINE = /.{1000}/;

/** @type {(work: () => void) => void} */
const whenIdle =
  typeof requestIdleCallback === "function"
    ? (work) => void requestIdleCallback(work)
    : (work) => void setTimeout(work);

/**
 * Colors the code below an element, once.
 * @param {Element} root
 * @param {() => void} [done] called once something was colored
 */
export function highlightCode(root, done = () => {}) {
  const blocks = [...root.querySelectorAll("pre > code:not(.hljs)")];
  if (blocks.length === 0) return;
  const highlightNext = () => {
    const block = blocks.shift();
    if (!block) return done();
    highlightBlock(block);
    whenIdle(highlightNext);
  };
  whenIdle(highlightNext);
}

/** @param {Element} block */
function highlightBlock(block) {
  const [, language] = /language-(\S+)/.exec(block.className) ?? [];
  block.classList.add("hljs");
  const text = block.textContent ?? "";
  if (!language || !hljs.getLanguage(language)) return;
  if (text.length > MAX_CHARACTERS || LONG_LINE.test(text)) return;
  const { value } = hljs.highlight(text, { language, ignoreIllegals: true });
  block.innerHTML = /** @type {any} */ (purify(value));
}
