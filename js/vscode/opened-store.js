// @ts-check
/** The store, opened when it is first asked for, and kept. */

import { EventEmitter, workspace } from "vscode";

import { openHostStore, watchedPatterns } from "./host.node.js";

/** @import { Disposable, ExtensionContext } from "vscode" */
/** @import { Session, Store } from "../index.js" */
/** @import { HostStore } from "./host.node.js" */

/** @typedef {HostStore & { watching: Disposable[] }} WatchedStore */

/** How long after the first change lists are read anew: a turn of an agent changes several files. */
const SETTLING_MS = 500;

export class OpenedStore {
  #context;
  /** @type {Promise<WatchedStore> | undefined} */
  #opening;
  #changed = new EventEmitter();
  #begun = new EventEmitter();

  /** Sessions were changed, by anyone. */
  onDidChange = this.#changed.event;
  /** Something was asked of the store for the first time. */
  onDidOpen = this.#begun.event;

  /** @param {ExtensionContext} context */
  constructor(context) {
    this.#context = context;
    context.subscriptions.push(
      this.#changed,
      this.#begun,
      // The store is bound to a folder and a home.
      workspace.onDidChangeWorkspaceFolders(() => void this.#reopen()),
      workspace.onDidChangeConfiguration((change) => {
        if (change.affectsConfiguration("leftoff.home")) void this.#reopen();
      }),
    );
  }

  /** Whether the store is open already. */
  get isOpen() {
    return this.#opening !== undefined;
  }

  /** @returns {Promise<Store>} */
  async store() {
    return (await this.open()).store;
  }

  /** @returns {Promise<WatchedStore>} */
  open() {
    if (this.#opening) return this.#opening;
    const opening = this.#begin();
    this.#opening = opening;
    // What failed is tried again, unless another one was begun meanwhile.
    opening.catch(() => {
      if (this.#opening === opening) this.#opening = undefined;
    });
    return opening;
  }

  /**
   * Does something with a session, and tells that it has changed.
   * @template T
   * @param {string} id @param {(session: Session, store: Store) => Promise<T>} work
   */
  async change(id, work) {
    const store = await this.store();
    const session = await store.session(id);
    try {
      return await work(session, store);
    } finally {
      await session.close();
      this.tellChange();
    }
  }

  tellChange() {
    this.#changed.fire(undefined);
  }

  async close() {
    const opening = this.#opening;
    this.#opening = undefined;
    const opened = await opening?.catch(() => undefined);
    for (const one of opened?.watching ?? []) one.dispose();
    await opened?.store.close();
    for (const { storage } of opened?.roots ?? []) await storage.close();
  }

  async #begin() {
    const opened = await openHostStore(this.#context);
    const watching = this.#watch(opened.store);
    this.#begun.fire(undefined);
    return { ...opened, watching };
  }

  /** Tells of what other programs write. @param {Store} store @returns {Disposable[]} what ends that */
  #watch(store) {
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    let settling;
    const settle = () => {
      settling ??= setTimeout(() => {
        settling = undefined;
        this.tellChange();
      }, SETTLING_MS);
    };
    const watchers = watchedPatterns(store).map((pattern) => workspace.createFileSystemWatcher(pattern));
    for (const watcher of watchers)
      for (const listen of [watcher.onDidCreate, watcher.onDidChange, watcher.onDidDelete]) listen(settle);
    return [...watchers, { dispose: () => clearTimeout(settling) }];
  }

  /** Whoever is told asks for another store at once, however long the former one takes to close. */
  async #reopen() {
    const closing = this.close();
    this.tellChange();
    await closing;
  }
}
