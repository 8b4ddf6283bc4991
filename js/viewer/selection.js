// @ts-check
/** Rows that a person selected, and what is copied of them. */

import { MemoryStorage, historyText, openStore } from "../index.js";
import { messagesOf } from "./builds.js";

/** @import { Draft, ReadMessage, Session, Store } from "../index.js" */
/** @import { Row } from "./conversation.js" */
/** @import { Model } from "./model.js" */

/** The agents whose clients `leftoff resume --with` starts, as its help lists them. */
export const RESUMING_AGENTS = ["claude-code", "codex", "copilot", "gemini", "opencode", "pi", "qwen"];
/** The window that a resume block is asked for with. */
const WINDOW = 200_000;

/** @typedef {"markdown" | "json" | "resume"} CopyFormat */

/** Which rows are selected. */
export class Selection {
  #model;
  /** The ids of rows. @type {Set<string>} */
  #ids = new Set();
  /** Where extending began, and what was selected by then. @type {{ id: string, ids: Set<string> } | undefined} */
  #anchor;
  /** Whether the actions are shown. */
  isOpen = false;
  /** Where the messages are from; given once. @type {{ store: Store, session: Session, isDropped: boolean } | undefined} */
  source;

  /** @param {Model} model */
  constructor(model) {
    this.#model = model;
  }

  /** @param {Row} row */
  has(row) {
    return this.#ids.has(row.id);
  }

  /** The selected rows that are shown, in order. @returns {Row[]} */
  get rows() {
    return this.#ids.size === 0 ? [] : this.#model.rows.filter((row) => this.has(row));
  }

  /** What actions are done with: the selected rows, or the one that keys act on. @returns {Row[]} */
  get targets() {
    const { rows } = this;
    return rows.length > 0 ? rows : this.#model.rows.slice(this.#model.cursor, this.#model.cursor + 1);
  }

  /** Selects a row, or takes it out; of a folded turn all of it. @param {Row} row */
  toggle(row) {
    const isSelected = this.has(row);
    this.#model.change(() => {
      for (const { id } of this.#model.turnFolds.rowsAt(row))
        if (isSelected) this.#ids.delete(id);
        else this.#ids.add(id);
      this.#anchor = undefined;
    });
  }

  /** Selects all shown rows from where extending began to another. @param {number} from @param {number | undefined} to */
  extend(from, to) {
    const { rows, filters } = this.#model;
    this.#anchor ??= { id: rows[from].id, ids: new Set(this.#ids) };
    const { id, ids } = this.#anchor;
    const places = [rows.findIndex((row) => row.id === id), to ?? from];
    const between = rows.slice(Math.min(...places), Math.max(...places) + 1).filter((row) => filters.isShown(row));
    this.#model.change(() => (this.#ids = new Set([...ids, ...between.map((row) => row.id)])));
  }

  /** @returns {boolean} whether anything was selected */
  clear() {
    const { size } = this.#ids;
    this.#model.change(() => {
      this.#ids = new Set();
      this.#anchor = undefined;
    });
    return size > 0;
  }
}

/**
 * Rows as a text for elsewhere. Secrets are treated as the store's setting `redact` says.
 * @param {{ store: Store, session: Session }} of @param {readonly Row[]} rows @param {CopyFormat} format
 * @returns {Promise<string>}
 */
export async function textOfRows({ store, session }, rows, format) {
  const said = rows.flatMap(messagesOf).map(({ onPath, ...message }) => message);
  const { value: messages } = await store.redacted(said);
  if (format === "json") return `${JSON.stringify(messages, null, 2)}\n`;
  if (format === "markdown") return markdownOf(messages);
  // The block is the same for each window and counter; this one needs no vocabulary.
  const { block } = await session.resume({ override: true, revives: false, window: WINDOW, encoding: "estimate-1" });
  return `${block}\n\n${historyText(messages)}`;
}

/** Messages as `export` writes them: by a session in memory that has these alone. @param {readonly ReadMessage[]} messages */
async function markdownOf(messages) {
  const store = await openStore({ storage: new MemoryStorage(), home: "/copied", project: "/copied" });
  const session = await store.create();
  await session.append(messages.flatMap(draftOf));
  const text = await session.export("markdown");
  await store.close();
  // Without the heading of that session, which is none of anybody's.
  return text.slice(text.indexOf("\n## ") + 1);
}

/** @param {ReadMessage} message @returns {Draft[]} */
function draftOf({ id, timestamp, role = "user", content, tool, assistant, attachments }) {
  const isEmpty = content === "" && !tool && !assistant && !attachments;
  return isEmpty ? [] : [{ id, timestamp, role, content, tool, assistant, attachments }];
}

/** The command that goes on with a session in an agent. @param {string} session its id @param {string} agent */
export const resumeCommand = (session, agent) => `leftoff resume ${session} --with ${agent}`;
