// @ts-check
/** The store that the browser keeps for this page, in the origin's private files. One page at a time writes to it. */

import { LeftoffError, openStore } from "../index.js";
import { isCaller } from "./children.js";
import { listOwn } from "./dropped.js";
import { WorkerStorage } from "./worker-storage.js";

/** @import { Listed, Store } from "../index.js" */
/** @import { StoredFiles } from "./dropped.js" */

/** Apart from what other pages of the origin keep. */
const PLACE = { home: "/leftoff-viewer", project: "/project" };
/** The lock of the page that writes. */
const WRITE_LOCK = "leftoff-viewer";

/** Whether the browser has such files here, and lets the page have them. */
export async function hasPrivateFiles() {
  try {
    await navigator.storage.getDirectory();
    return true;
  } catch {
    return false;
  }
}

export class BrowserStore {
  #startWorker;
  /** Reads what is kept. */
  reader;

  /** @param {() => Worker} startWorker @param {Store} reader */
  constructor(startWorker, reader) {
    this.#startWorker = startWorker;
    this.reader = reader;
  }

  /**
   * @param {() => Worker} startWorker starts one that runs `storage-worker.js`
   * @throws {LeftoffError} what opening a store throws
   */
  static async open(startWorker) {
    const reader = await openStore({ ...PLACE, storage: new WorkerStorage(startWorker()), readOnly: true });
    return new BrowserStore(startWorker, reader);
  }

  /** @returns {Promise<Listed[]>} */
  listSessions() {
    return listOwn(this.reader);
  }

  /**
   * Keeps the sessions of files; of one that is kept, what is new. The browser may still clear its files away where it
   * runs out of room, unless it promises not to.
   * @param {StoredFiles} files
   * @throws {LeftoffError} what `Store.import` throws; `disk_full` where the browser allows no more: what it took until
   *   then is kept, and goes on the next time
   */
  async keepFiles(files) {
    void navigator.storage.persist();
    await this.#write(async (store) => {
      const { problems } = await store.import(files.path);
      const refusal = problems.find(({ code }) => code === "disk_full");
      if (refusal) throw new LeftoffError({ code: "disk_full", message: refusal.message });
    }, files);
  }

  /** Removes a session for good, and those of its sub-agents. @param {string} id @throws {LeftoffError} `not_found` */
  async removeSession(id) {
    await this.#write(async (store) => {
      const agents = await Promise.all(
        (await store.list({ all: true, type: "subagent" })).map((listed) => store.session(listed.id)),
      );
      const removed = [await store.session(id)];
      for (const session of removed) {
        removed.push(...agents.filter((agent) => !removed.includes(agent) && isCaller(session, agent)));
        await store.delete(session, { purge: true });
      }
    });
  }

  /**
   * Files that are appended to are held open, which no other page may do meanwhile: so each write has a store of its own.
   * @param {(store: Store) => Promise<void>} work @param {StoredFiles} [files]
   */
  #write(work, files) {
    return navigator.locks.request(WRITE_LOCK, async () => {
      const store = await openStore({ ...PLACE, storage: new WorkerStorage(this.#startWorker(), files) });
      try {
        await work(store);
      } finally {
        await store.close();
      }
    });
  }
}
