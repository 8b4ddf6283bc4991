// @ts-check
/** What is done with selected messages: they are copied, or the session goes on elsewhere. */

import { html, nothing } from "lit";
import { formatAgent, formatMany } from "../format.js";
import { renderMarkdown } from "../markdown.js";
import { splitMarkdown } from "../markup.js";
import { RESUMING_AGENTS, resumeCommand, textOfRows } from "../selection.js";
import { icon } from "./icons.js";

/** @import { Row } from "../conversation.js" */
/** @import { Model } from "../model.js" */

/** @typedef {Record<string, string | Promise<string>>} CopyTexts by their types */

/** The bar that says how many messages are selected. @param {Model} model @param {Record<string, () => void>} actions */
export function selectionOf({ selection }, actions) {
  return html`<div class="chosen" role="region" aria-label="Selection">
    <b>${formatMany(countOf(selection.rows), "message")}</b> selected
    <button class="btn line" @click=${actions.openActions}>Actions <kbd>.</kbd></button>
    <button class="btn icon s" aria-label="Clear the selection" @click=${() => selection.clear()}>
      ${icon("close")}
    </button>
  </div>`;
}

/** @param {readonly Row[]} rows */
const countOf = (rows) => rows.reduce((sum, { messageCount }) => sum + messageCount, 0);

/**
 * The list of actions.
 * @param {Model} model @param {NonNullable<Model["selection"]["source"]>} source
 * @param {{ copy: (what: string, texts: CopyTexts) => void, close: () => void }} does
 */
export function actionsOf({ selection }, source, { copy, close }) {
  const { targets } = selection;
  const what = formatMany(countOf(targets), "message");
  const markdown = () => textOfRows(source, targets, "markdown");
  const asHtml = async () =>
    splitMarkdown(await markdown())
      .map(renderMarkdown)
      .join("");
  const entries = /** @type {[string, () => CopyTexts][]} */ ([
    ["Markdown", () => ({ "text/plain": markdown() })],
    ["HTML", () => ((made) => ({ "text/plain": made, "text/html": made }))(asHtml())],
    ["JSON", () => ({ "text/plain": textOfRows(source, targets, "json") })],
    ["a resume block", () => ({ "text/plain": textOfRows(source, targets, "resume") })],
  ]);
  return html`<dialog class="help actions" open aria-label="Actions">
    <h2>${what}</h2>
    <div class="acts">
      ${entries.map(
        ([name, make]) =>
          html`<button class="btn line" @click=${() => copy(`${what} as ${name}`, make())}>Copy as ${name}</button>`,
      )}
    </div>
    <h2>Go on in</h2>
    <div class="acts">
      ${RESUMING_AGENTS.map((agent) => {
        const command = resumeCommand(source.session.id, agent);
        return html`<button
          class="btn line"
          title=${command}
          @click=${() => copy(`the command for ${formatAgent(agent)}`, { "text/plain": command })}
        >
          ${formatAgent(agent)}
        </button>`;
      })}
    </div>
    <p>
      Copies the command for a
      terminal.${source.isDropped ? html` Take the file in before: <code>leftoff import FILE</code>` : nothing}
    </p>
    <button class="btn line" @click=${close}>Close</button>
  </dialog>`;
}

/**
 * Copies texts that may still be made: the browser allows it only for what began with a press.
 * @param {CopyTexts} texts
 */
export async function copyTexts(texts) {
  const blobs = Object.entries(texts).map(([type, text]) => [
    type,
    Promise.resolve(text).then((made) => new Blob([made], { type })),
  ]);
  await navigator.clipboard.write([new ClipboardItem(Object.fromEntries(blobs))]);
}
