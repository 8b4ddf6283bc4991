// @ts-check
/** The branches of a session: the path that is shown, and where it forks. Nothing here knows a document. */

/** @import { ReadMessage } from "../types/index.js" */

/**
 * @typedef {{ name: string, timestamp: string | undefined, count: number, isShown: boolean }} Path a way on from a fork:
 *   `name`: the id of its first message, or of the last one before the fork, for the path that ends there; `count`: of
 *   its messages
 */

/** Before the first message. */
const ROOT = -1;

/** All messages of a session, and the one path of them that is shown: the current one until another is chosen. */
export class Branches {
  /** In the order of the log. @type {ReadMessage[]} */
  all = [];
  /** What is shown of them, in order: another array after each change. @type {ReadMessage[]} */
  path = [];
  /** The ways on, by the id of the message before them; "" before the first. @type {Map<string, Path[]>} */
  forks = new Map();
  /** @type {Map<string, number>} the places of messages by their ids */
  #places = new Map();
  /** The places of the messages before each. @type {number[]} */
  #before = [];
  /** The branch of each message. @type {number[]} */
  #branchOf = [];
  /** The last place of each branch. @type {number[]} */
  #lasts = [];
  /** Whose line comes before the next one. */
  #branch = 0;
  /** The last place of the current path. */
  #current = ROOT;
  /** A message of the path that was chosen. @type {string | undefined} */
  #chosen;

  /**
   * Takes messages: new ones behind the others, one that is known at its place.
   * @param {readonly ReadMessage[]} messages in the order of the log
   */
  add(messages) {
    for (const message of messages) {
      const known = this.#places.get(message.id);
      if (known === undefined) this.#append(message);
      else if (isDouble(this.all[known], message)) this.#appendDouble(known, message);
      else this.#revise(known, message);
    }
    this.#arrange();
  }

  /** @param {ReadMessage} message */
  #append(message) {
    const place = this.all.length;
    const parent = this.#places.get(message.parentId ?? "");
    const on = parent === undefined ? this.#branch : this.#branchOf[parent];
    const isBeginning = message.branch === true;
    this.#branch = isBeginning ? Math.max(this.#lasts.length, 1) : on;
    const before = isBeginning && parent !== undefined ? parent : (this.#lasts[on] ?? ROOT);
    this.all.push(message);
    this.#places.set(message.id, place);
    this.#branchOf.push(this.#branch);
    this.#before.push(before);
    this.#lasts[this.#branch] = place;
    if (message.onPath !== false) this.#current = place;
  }

  /**
   * A log may have another message of the same id: it stands in the same branch, under a name of its own.
   * @param {number} known @param {ReadMessage} message
   */
  #appendDouble(known, message) {
    const id = `${message.id}~${this.all.length}`;
    const parentId = this.all[this.#lasts[this.#branchOf[known]]].id;
    this.#append({ ...message, id, parentId, branch: undefined });
  }

  /** A message that another branch has makes that one current. @param {number} place @param {ReadMessage} message */
  #revise(place, message) {
    this.all[place] = message;
    if (this.#pathTo(this.#current).includes(place)) return;
    this.#branch = this.#branchOf[place];
    this.#current = this.#lasts[this.#branch];
  }

  /** Whether there is more than one path. */
  get isForked() {
    return this.forks.size > 0;
  }

  /** What names the path that is shown, where there are others. @returns {string | undefined} */
  get name() {
    return [...this.forks.values()].at(-1)?.find(({ isShown }) => isShown)?.name;
  }

  /** Whether messages that are appended are shown. */
  get isCurrent() {
    return this.path.at(-1) === (this.all[this.#current] ?? this.all.at(-1));
  }

  /** Shows the path that a fork or a link names. @param {string} name @returns {boolean} whether there is one */
  choose(name) {
    if (!this.#places.has(name)) return false;
    this.#chosen = name;
    this.#arrange();
    // Whoever chose the current path sees what is appended to it, wherever that is.
    if (this.isCurrent) this.#chosen = undefined;
    return true;
  }

  /** Shows a path that has a message: another one only where this one lacks it. @param {string} id */
  reveal(id) {
    const message = this.all[this.#places.get(id) ?? ROOT];
    return message !== undefined && (this.path.includes(message) || this.choose(id));
  }

  /**
   * Where something stands that the log has behind a message: behind the last one before it that is shown.
   * @param {string} id "" for the beginning
   */
  shownBefore(id) {
    const shown = new Set(this.path);
    for (let place = this.#places.get(id) ?? ROOT; place !== ROOT; place -= 1)
      if (shown.has(this.all[place])) return this.all[place].id;
    return "";
  }

  /** Shows the current path. */
  follow() {
    this.#chosen = undefined;
    this.#arrange();
  }

  #arrange() {
    const current = this.#current === ROOT ? this.all.length - 1 : this.#current;
    const ends = endsOf(this.#before, current);
    const chosen = this.#chosen === undefined ? undefined : this.#places.get(this.#chosen);
    const places = this.#pathTo(chosen === undefined ? current : ends[chosen]);
    this.path = places.map((place) => this.all[place]);
    this.forks = this.#forksOn(places, ends, current);
  }

  /** @param {number} end @returns {number[]} */
  #pathTo(end) {
    const places = [];
    for (let place = end; place !== ROOT; place = this.#before[place]) places.push(place);
    return places.reverse();
  }

  /** @param {number[]} places @param {number[]} ends @param {number} current */
  #forksOn(places, ends, current) {
    /** @type {Map<string, Path[]>} */
    const forks = new Map();
    if (this.#lasts.length < 2) return forks;
    const [next, depths] = [nextOf(this.#before), depthsOf(this.#before)];
    const shown = new Set(places);
    for (const place of [ROOT, ...places]) {
      const before = this.all[place];
      const paths = (next.get(place) ?? []).map((first) => ({
        name: this.all[first].id,
        timestamp: this.all[first].timestamp,
        count: depths[ends[first]] - (depths[place] ?? 0),
        isShown: shown.has(first),
      }));
      if (place === current && paths.length > 0) {
        const isShown = places.at(-1) === place;
        paths.push({ name: before.id, timestamp: before.timestamp, count: 0, isShown });
      }
      if (paths.length > 1) forks.set(before?.id ?? "", paths);
    }
    return forks;
  }
}

/** Whether another message has the same id. @param {ReadMessage} known @param {ReadMessage} message */
const isDouble = (known, message) =>
  (known.rev ?? 0) === (message.rev ?? 0) && known.source === undefined && known.content !== message.content;

/**
 * Where each message leads: to the end of the current path where that has it, else to the newest end behind it.
 * @param {readonly number[]} before @param {number} current
 * @returns {number[]}
 */
function endsOf(before, current) {
  const ends = before.map((_, place) => place);
  const isCurrent = before.map((_, place) => place === current);
  // What follows a message has a later place.
  for (let place = before.length - 1; place >= 0; place -= 1) {
    const from = before[place];
    if (from === ROOT || isCurrent[from]) continue;
    isCurrent[from] = isCurrent[place];
    ends[from] = isCurrent[place] ? ends[place] : Math.max(ends[from], ends[place]);
  }
  return ends;
}

/** @param {readonly number[]} before @returns {Map<number, number[]>} */
function nextOf(before) {
  /** @type {Map<number, number[]>} */
  const next = new Map();
  before.forEach((from, place) => {
    const known = next.get(from);
    if (known) known.push(place);
    else next.set(from, [place]);
  });
  return next;
}

/** How many messages lead to each, itself too. @param {readonly number[]} before @returns {number[]} */
function depthsOf(before) {
  /** @type {number[]} */
  const depths = [];
  for (const from of before) depths.push((depths[from] ?? 0) + 1);
  return depths;
}
