// @ts-check
/** What stands between messages: where the conversation forks, and what could not be read there. */

import { html, nothing } from "lit";
import { messagesOf } from "../builds.js";
import { describeLoss, formatHex } from "../damage.js";
import { formatCount, formatMany, formatTime } from "../format.js";
import { showHidden } from "../hidden.js";
import { icon } from "./icons.js";

/** @import { Row } from "../conversation.js" */
/** @import { Damage } from "../damage.js" */
/** @import { Model } from "../model.js" */
/** @import { Path } from "../branches.js" */

/** How many bytes are shown. */
const SHOWN_BYTES = 128;

/** What stands before the first message. @param {Model} model */
export const bandsBefore = (model) => bandsAt(model, "");

/** What stands behind a row: behind its message, or a result of its calls. @param {Model} model @param {Row} row */
export const bandsAfter = (model, row) => messagesOf(row).flatMap(({ id }) => bandsAt(model, id));

/** @param {Model} model @param {string} message the id of the one before, "" before the first */
function bandsAt(model, message) {
  const paths = model.branches.forks.get(message);
  return [
    ...damageAt(model, message).map(holeOf),
    ...(paths ? [forkOf(model, paths)] : []),
    ...(isLastRead(model, message) ? [seenOf(model)] : []),
  ].map(bandOf);
}

/** @param {unknown} content */
const bandOf = (content) =>
  html`<div class="band">
    <div class="g"></div>
    ${content}
  </div>`;

/** What was placed last. @type {{ damage: Damage[], path: readonly object[], places: Map<string, Damage[]> } | undefined} */
let placed;

/** The damage of a session, by the ids of the shown messages that it stands behind. @param {Model} model */
export function placeDamage({ damage, branches }) {
  if (placed?.damage !== damage || placed.path !== branches.path) {
    const located = damage.filter(({ after }) => after !== undefined);
    const places = Map.groupBy(located, ({ after }) => branches.shownBefore(String(after)));
    placed = { damage, path: branches.path, places };
  }
  return placed.places;
}

/** @param {Model} model @param {string} message */
const damageAt = (model, message) => (model.damage.length > 0 && placeDamage(model).get(message)) || [];

/** @param {Damage} damage */
function holeOf(damage) {
  const { file, message, start = 0, end = 0, bytes } = damage;
  const reason = message.replace(/^expected .*, but found /, "found ").replace(/ instead$/, "");
  return html`<div class="notice hole" role="group" aria-label="Damage" data-start=${start}>
    <div class="in">
      ${icon("damaged")}<span
        ><b>${formatMany(end - start, "byte")} could not be read.</b> ${describeLoss(damage)}</span
      >
      <span class="act"
        >${bytes ? html`<button @click=${() => saveBytes(damage)}>Save the bytes</button>` : nothing}</span
      >
      <span class="sub">${showHidden(file)}, ${rangeOf(damage)}: ${reason}.</span>
      ${
        bytes
          ? html`<span class="hex" tabindex="0" role="group" aria-label="The bytes"
              >${formatHex(bytes.subarray(0, SHOWN_BYTES), start)}${
                bytes.length > SHOWN_BYTES ? `\n${formatCount(bytes.length - SHOWN_BYTES)} more bytes` : nothing
              }</span
            >`
          : nothing
      }
    </div>
  </div>`;
}

/** @param {Damage} damage */
export const rangeOf = ({ start, end }) =>
  start === undefined ? "" : `bytes ${formatCount(start)} to ${formatCount(end ?? start)}`;

/** Saves the bytes of a damage as a file. @param {Damage} damage */
export function saveBytes({ file, start, end, bytes }) {
  const address = URL.createObjectURL(new Blob([/** @type {Uint8Array<ArrayBuffer>} */ (bytes)]));
  const link = document.createElement("a");
  link.href = address;
  link.download = `${file.replace(/^.*\//, "")}-${start}-${end}.bin`;
  link.click();
  // After the click has begun to save it.
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

/** Whether the reader was there the last time. @param {Model} model @param {string} message */
const isLastRead = (model, message) =>
  model.lastRead?.before?.message === message && model.lastRead.placeIn(model) !== undefined;

/** @param {Model} model */
function seenOf(model) {
  const count = model.lastRead?.countNew(model) ?? 0;
  return html`<div class="rule seen">
    You left off here${count > 0 ? `. ${formatMany(count, "new message")}` : ""}
  </div>`;
}

/** @param {Model} model @param {Path[]} paths */
function forkOf(model, paths) {
  const times = paths.length === 2 ? "twice" : `${paths.length} times`;
  return html`<div class="fork" role="group" aria-label="Branches">
    ${icon("fork")}<span>The conversation went on ${times} from here.</span>
    <span class="seg">
      ${paths.map(
        (path) =>
          html`<button aria-pressed=${path.isShown} data-branch=${path.name} @click=${() => choose(model, path)}>
            ${nameOf(path)}
          </button>`,
      )}
    </span>
  </div>`;
}

/** @param {Path} path */
const nameOf = ({ timestamp, count }) =>
  count === 0 ? "Ends here" : [formatTime(timestamp), formatMany(count, "message")].filter(Boolean).join(", ");

/** @param {Model} model @param {Path} path */
const choose = (model, { name }) => model.changeBranch(() => model.branches.choose(name));
