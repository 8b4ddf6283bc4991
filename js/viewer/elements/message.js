// @ts-check
/** One row of the conversation: a message, with its calls. */

import { html, nothing } from "lit";
import { addressOf } from "../address.js";
import { FATE_WORDS } from "../build-words.js";
import { fateOf } from "../builds.js";
import { countsOf } from "../conversation.js";
import { formatCost, formatCount, formatMany, formatModel, formatShort, formatTime } from "../format.js";
import { showHidden } from "../hidden.js";
import { imageSize, imageUrl, sizeOf } from "../images.js";
import { costOfAnswer } from "../usage.js";
import { callsOf, hitsOf, textOf } from "./call.js";
import { icon } from "./icons.js";
import { proseOf } from "./prose.js";

/** @import { Attachment } from "../../types/index.js" */
/** @import { Row } from "../conversation.js" */
/** @import { Model } from "../model.js" */

/** A request of more lines is cut until it is opened. */
const MAX_USER_LINES = 24;
/** An image of more is not decoded: it takes four bytes a pixel. */
const MAX_PIXELS = 64_000_000;

/** What a row is called, for whoever hears it. @param {Row} row */
export function nameOf(row) {
  const names = { user: "You", assistant: "Assistant", tool: "Tool", summary: "Compaction", note: "Note" };
  return [names[row.kind], formatTime(row.message.timestamp), row.failed ? "failed" : ""].filter(Boolean).join(", ");
}

/** @param {Model} model @param {Row} row @param {() => void} foldTurn */
export function messageOf(model, row, foldTurn) {
  const bodies = { user: userOf, assistant: assistantOf, tool: otherOf, note: otherOf, summary: summaryOf };
  return html`<div class="row ${row.kind} ${row.kind === "assistant" && !row.isFirstOfModel ? "later" : ""}">
    <div class="g">${gutterOf(model, row)}</div>
    <div class="body">${bodies[row.kind](model, row, foldTurn)}</div>
  </div>`;
}

/** What selects a row by the mouse; keys do it by `x`. @param {Model} model @param {Row} row */
export const chooserOf = ({ selection }, row) =>
  html`<button
    class="choose"
    role="checkbox"
    tabindex="-1"
    aria-label="Select this message"
    aria-checked=${selection.has(row)}
    @click=${() => selection.toggle(row)}
  ></button>`;

/** @param {Model} model @param {Row} row */
function gutterOf(model, row) {
  const { fates } = model.inspector;
  const fate = fates && fateOf(row, fates).fate;
  return html`${
    row.isFirstOfTurn ? html`<span class="num">${model.conversation.turns[row.turn].number}</span>` : linkOf(model, row)
  }${fate ? html`<span class="fate ${fate}">${FATE_WORDS[fate]}</span>` : nothing}`;
}

/** @param {Model} model @param {Row} row */
function linkOf({ branches }, { message }) {
  const time = formatTime(message.timestamp);
  const address = addressOf({ message: message.id, branch: branches.name });
  return html`<a href=${address} title="Link to this message">${time || "link"}</a>`;
}

/** @param {Model} model @param {Row} row @param {() => void} foldTurn */
function userOf(model, row, foldTurn) {
  const { content, attachments, tokens } = row.message;
  const lines = content.split("\n");
  const isLong = lines.length > MAX_USER_LINES;
  const times = model.shownMore(row, "content");
  const isOpened = times > 0;
  const isWhole = !isLong || isOpened || model.isSearched(row, "content");
  const shown = isWhole ? content : lines.slice(0, MAX_USER_LINES).join("\n");
  return html`<div class="who">
      <span class="num inline">${model.conversation.turns[row.turn].number}</span>
      <h2>You</h2>
      <span class="r">
        ${tokens ? html`<span><b>${formatCount(tokens.count)}</b> tokens</span>` : nothing}<span class="tm"
          >${linkOf(model, row)}</span
        >
        ${
          model.turnFolds.canFold(row)
            ? html`<button class="fold-turn" title="Fold the turn" aria-label="Fold the turn" @click=${foldTurn}>
                ${icon("up")}
              </button>`
            : nothing
        }
      </span>
    </div>
    ${proseOf(model, row, "content", shown)}
    ${
      isLong && (!isWhole || isOpened)
        ? html`<button class="more" @click=${() => model.showMore(row, "content", isWhole ? -times : 1)}>
            ${isWhole ? "Show less" : `Show ${lines.length - MAX_USER_LINES} more lines`}
          </button>`
        : nothing
    }
    ${imagesOf(attachments)}`;
}

/** @param {Model} model @param {Row} row */
function assistantOf(model, row) {
  const { content, attachments } = row.message;
  const { model: name, reasoning = [] } = row.message.assistant ?? {};
  const { sent, output, cacheRead, cacheWrite } = countsOf(row.message);
  const cost = costOfAnswer(row.message);
  const cache = `${formatCount(cacheRead)} read from the cache, ${formatCount(cacheWrite)} written`;
  return html`<div class="who ${row.isFirstOfModel ? "" : "q"}">
      <b>${formatModel(name) || "Assistant"}</b>
      <span class="r" title=${cache}>
        <span class="tm narrow">${linkOf(model, row)}</span>
        ${sent > 0 ? html`<span class="opt">in <b>${formatShort(sent)}</b></span>` : nothing}
        ${output > 0 ? html`<span class="opt">out <b>${formatShort(output)}</b></span>` : nothing}
        ${cost ? html`<span class="opt"><b>${formatCost(cost)}</b></span>` : nothing}
      </span>
    </div>
    ${reasoning.map((piece, index) => reasoningOf(model, row, index, piece.text))}
    ${content === "" ? nothing : proseOf(model, row, "content", content)} ${imagesOf(attachments)}
    ${callsOf(model, row)}`;
}

/** @param {Model} model @param {Row} row @param {number} index @param {string} text */
function reasoningOf(model, row, index, text) {
  const part = `reasoning-${index}`;
  const isSealed = text === "";
  const isOpen = !isSealed && model.isOpen(row, part);
  const words = isSealed ? "Sealed by the provider; its text is not in the log" : beginningOf(text);
  return html`<div class="reason">
    <button
      class="r-head"
      aria-expanded=${isOpen}
      ?disabled=${isSealed}
      @click=${() => model.setOpen(row, part, !isOpen)}
    >
      ${icon("chevron", "tw")}<b>Reasoning</b><span class="pv">${words}</span>
      ${isOpen ? nothing : hitsOf(model, row, part)}
    </button>
    ${isOpen ? proseOf(model, row, part, text, "r-body") : nothing}
  </div>`;
}

/** The first words of a text, for a line. @param {string} text */
const beginningOf = (text) => showHidden(text.slice(0, 200).replace(/\s+/g, " "));

/** @param {Model} model @param {Row} row */
function otherOf(model, row) {
  const isOpen = model.isOpen(row, "content");
  const { content, tool, role, attachments } = row.message;
  const name = tool
    ? `${showHidden(tool.name)}, without its call`
    : role === "system"
      ? "Instructions"
      : "Note from the client";
  return html`<div class="reason">
      <button class="r-head" aria-expanded=${isOpen} @click=${() => model.setOpen(row, "content", !isOpen)}>
        ${icon("chevron", "tw")}<b>${name}</b><span class="pv">${beginningOf(content)}</span>
        <span>${isOpen ? nothing : hitsOf(model, row, "content")} ${formatMany(row.tokens, "token")}</span>
      </button>
      ${isOpen ? html`<div class="boxed">${textOf(model, row, "content", content, "wrap")}</div>` : nothing}
    </div>
    ${imagesOf(attachments)}`;
}

/** @param {Model} model @param {Row} row */
function summaryOf(model, row) {
  const isOpen = model.isOpen(row, "content");
  return html`<div class="notice warn">
      ${icon("fold")}<b>Context compacted, a new frame begins</b>
      <span class="act">
        ${isOpen ? nothing : hitsOf(model, row, "content")}
        <button aria-expanded=${isOpen} @click=${() => model.setOpen(row, "content", !isOpen)}>
          ${isOpen ? "Hide the summary" : "Read the summary"}
        </button>
      </span>
      <span class="sub">The messages before became a summary of ${formatMany(row.tokens, "token")}.</span>
    </div>
    ${isOpen ? proseOf(model, row, "content", row.message.content, "summary") : nothing}`;
}

/** @param {Attachment[] | undefined} attachments */
function imagesOf(attachments) {
  return (attachments ?? []).map((attachment) => {
    const url = imageUrl(attachment);
    const name = showHidden(attachment.name ?? attachment.path ?? attachment.mime);
    const size = url ? imageSize(attachment) : undefined;
    const pixels = size ? `${size.width} × ${size.height}, ` : "";
    const isHuge = size && size.width * size.height > MAX_PIXELS;
    if (!url || isHuge)
      return html`<p class="file">
        ${icon("file")} ${name}, ${isHuge ? `${pixels}too large to show` : attachment.mime}
      </p>`;
    return html`<figure class="img">
      <img
        src=${url}
        alt=${name}
        width=${size?.width ?? 440}
        height=${size?.height ?? 248}
        loading="lazy"
        decoding="async"
      />
      <figcaption>${name} · ${pixels}${formatShort(sizeOf(attachment))}B</figcaption>
    </figure>`;
  });
}
