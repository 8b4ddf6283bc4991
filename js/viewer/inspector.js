// @ts-check
/** What the inspector has open: the last context that was sent, previews for other windows, and two of them beside. */

import { compareContexts } from "../index.js";
import { entriesOf, fatesOf } from "./builds.js";

/** @import { Session } from "../index.js" */
/** @import { Build, Verdict, Entry, Fate } from "./builds.js" */
/** @import { Model } from "./model.js" */

/** The key of what was sent last; that of a preview is its window, "own" for the model's. */
export const SENT_KEY = "sent";
export const OWN_KEY = "own";
/** The windows to choose from, in tokens. */
export const WINDOWS = [8_000, 16_000, 32_000, 64_000, 128_000, 200_000, 400_000, 1_000_000];

/** The state of the inspector. */
export class Inspector {
  #model;
  /** Where contexts come from; given once, before it opens. @type {Session | undefined} */
  session;
  /** Loads what only contexts need; given once, before it opens. @type {() => Promise<void>} */
  prepare = async () => {};
  isOpen = false;
  /** @type {"build" | "compare"} */
  view = "build";
  /** Whether it was asked what was sent last, and whether that is recorded. */
  isAsked = false;
  hasSent = false;
  /** Why nothing is shown. @type {Map<string, string>} */
  troubles = new Map();
  /** @type {Map<string, Build>} */
  builds = new Map();
  chosen = SENT_KEY;
  before = SENT_KEY;
  after = OWN_KEY;
  /** The fate that is listed alone. @type {Fate | undefined} */
  only;
  /** The rows whose texts are open; -1 for the summary. @type {Set<number>} */
  opened = new Set();
  /** The runs that were opened, by their first row, and how many of each are shown. @type {Map<number, number>} */
  runs = new Map();
  /** @type {string[]} */
  pins = [];
  /** @type {{ build: Build, messages: readonly object[], fates: Map<string, Verdict>, entries: Entry[] } | undefined} */
  #known;

  /** @param {Model} model */
  constructor(model) {
    this.#model = model;
  }

  /** The context that is shown, once it is there. @returns {Build | undefined} */
  get build() {
    return this.builds.get(this.view === "compare" ? this.after : this.chosen);
  }

  /** What became of the messages in it, and of the rows. */
  get decisions() {
    const { build } = this;
    const { messages, rows } = this.#model;
    if (!build) return undefined;
    if (this.#known?.build !== build || this.#known.messages !== messages) {
      const fates = fatesOf(build, messages);
      this.#known = { build, messages, fates, entries: entriesOf(rows, fates) };
    }
    return this.#known;
  }

  /** What became of the messages, where the conversation is to show it. @returns {Map<string, Verdict> | undefined} */
  get fates() {
    return this.isOpen ? this.decisions?.fates : undefined;
  }

  toggle() {
    this.#model.change(() => (this.isOpen = !this.isOpen));
    return this.isOpen ? this.refresh() : undefined;
  }

  /** Asks again what was sent last, as another program may have sent since; previews are made anew. */
  async refresh() {
    const sent = await this.session?.lastContext();
    this.builds.clear();
    this.troubles.clear();
    this.isAsked = true;
    this.hasSent = sent !== undefined;
    if (sent) this.builds.set(SENT_KEY, { key: SENT_KEY, at: sent.at, result: sent });
    if (!sent) this.chosen = this.chosen === SENT_KEY ? OWN_KEY : this.chosen;
    if (!sent) this.before = this.before === SENT_KEY ? OWN_KEY : this.before;
    if (!sent && this.before === this.after) this.after = String(WINDOWS[2]);
    this.pins = (await this.session?.pins()) ?? [];
    await this.#load();
  }

  /** @param {"build" | "compare"} view */
  async show(view) {
    this.#model.change(() => (this.view = view));
    await this.#load();
  }

  /** @param {"chosen" | "before" | "after"} which @param {string} key */
  async choose(which, key) {
    this.#model.change(() => {
      this[which] = key;
      this.opened.clear();
      this.runs.clear();
    });
    await this.#load();
  }

  /** @param {() => void} work */
  change(work) {
    this.#model.change(work);
  }

  /** Opens the texts of a row, or folds them. @param {number} row */
  async toggleRow(row) {
    this.#model.change(() => void (this.opened.delete(row) || this.opened.add(row)));
    await this.#loadMessages(this.build);
  }

  /** @param {Build} before @param {Build} after */
  compare(before, after) {
    return compareContexts(before.result, after.result);
  }

  /** Builds what is to be shown and is not there. */
  async #load() {
    const keys = this.view === "compare" ? [this.before, this.after] : [this.chosen];
    for (const key of keys) if (!this.builds.has(key)) await this.#preview(key);
    if (this.view === "compare") await this.#loadMessages(this.builds.get(SENT_KEY));
    this.#model.change(() => {});
  }

  /** @param {string} key */
  async #preview(key) {
    if (!this.session) return;
    try {
      await this.prepare();
      const encoding = this.builds.get(SENT_KEY)?.result.report.encoding;
      const window = key === OWN_KEY ? this.builds.get(SENT_KEY)?.result.report.budget.modelContextWindow : Number(key);
      const result = await this.session.context({ frame: false, assumes: true, window, encoding });
      this.builds.set(key, { key, at: undefined, result, messages: result.messages });
    } catch (error) {
      this.troubles.set(key, error instanceof Error ? error.message : String(error));
    }
  }

  /** @param {Build | undefined} build */
  async #loadMessages(build) {
    if (!build || build.messages || build.at === undefined) return;
    try {
      await this.prepare();
      const sent = await this.session?.lastContext({ full: true });
      const isSame = sent?.at === build.at && sent.isVerified;
      this.#model.change(() => (build.messages = isSame ? sent.messages : undefined));
    } catch (error) {
      this.#model.change(() => (this.#model.trouble = error instanceof Error ? error.message : String(error)));
    }
  }
}
