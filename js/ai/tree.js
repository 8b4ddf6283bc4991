// @ts-check
/** The messages of a session in all of its branches. */

import { screens } from "./screen.js";

/** @import { Session } from "../session/session.js" */
/** @import { ReadMessage } from "../types/index.js" */

/** The messages of all branches. */
export class Tree {
  /** @type {Map<string, ReadMessage[]>} by the id of the one that they follow */
  #next = new Map();
  /** @type {Map<string, ReadMessage>} */
  #byId = new Map();
  /** The id of the last message in the log. @type {string | null} */
  last = null;
  /** The id of the last message on the path. */
  leaf = "";

  /** @param {Session} session */
  static async read(session) {
    const tree = new Tree();
    for await (const message of session.messages({ allBranches: true })) {
      const before = message.parentId ?? tree.last ?? "";
      tree.#next.set(before, [...(tree.#next.get(before) ?? []), message]);
      tree.last = message.id;
      tree.#byId.set(message.id, message);
      if (message.onPath !== false) tree.leaf = message.id;
    }
    return tree;
  }

  /** A message, by its id. @param {string} id */
  find(id) {
    return this.#byId.get(id);
  }

  /** The last message in the log of which something holds. @param {(message: ReadMessage) => boolean} holds */
  findLast(holds) {
    return [...this.#byId.values()].findLast(holds);
  }

  /** The records with which a screen's message begins: behind one, or anywhere. @param {string} id @param {string} at */
  headsOf(id, at) {
    const records = at === "" ? [...this.#next.keys()].flatMap((one) => this.findAfter(one)) : this.findAfter(at);
    return sortByPath(records.filter((one) => screens.isHead(one) && screens.idOf(one) === id));
  }

  /** The messages that follow one, those on the path first, then the newest. @param {string} id */
  findAfter(id) {
    return sortByPath([...(this.#next.get(id) ?? [])].reverse());
  }

  /** A record, and those after it that belong to the same screen's message. @param {ReadMessage} head */
  groupOf(head) {
    const group = [head];
    const id = screens.idOf(head);
    for (
      let next;
      (next = this.findAfter(group.at(-1)?.id ?? "").find((one) => screens.idOf(one) === id && !screens.isHead(one)));
    )
      group.push(next);
    return group;
  }

  /** The records after one that no screen has saved. @param {string} id */
  findLoose(id) {
    /** @type {ReadMessage[]} */
    const loose = [];
    for (let next; (next = this.findAfter(loose.at(-1)?.id ?? id).find((one) => screens.idOf(one) === undefined));)
      loose.push(next);
    return loose;
  }
}

/** Puts the records on the path first. @param {ReadMessage[]} records */
function sortByPath(records) {
  const isElsewhere = (/** @type {ReadMessage} */ { onPath }) => Number(onPath === false);
  return records.sort((one, other) => isElsewhere(one) - isElsewhere(other));
}
