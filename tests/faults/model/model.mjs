// @ts-check
/**
 * What a store should say: section 3 of the design, as plain JavaScript. It knows no file and no leftoff.
 */

/** Without activity for so long, a session is paused by whoever looks next. */
const IDLE_MS = 5 * 60_000;

/**
 * @typedef {"active" | "paused" | "completed"} Status
 * @typedef {{ id: string, role: string, content: string, rev: number, isPartial: boolean, calls: string[], answers?: string, ms?: number, isImported?: boolean }} ModelMessage
 *
 * @typedef {object} ModelSession a session
 * @property {string} id
 * @property {string} path
 * @property {"home" | "workspace"} placement
 * @property {string | undefined} project
 * @property {string} type
 * @property {string} [name]
 * @property {string} [title] that somebody gave
 * @property {string} [summary]
 * @property {Status} status
 * @property {boolean} [mayRest] it may have been paused by who has it open
 * @property {boolean} isArchived
 * @property {ModelMessage[]} messages
 * @property {Set<string>} pins
 * @property {string[]} executions the calls
 * @property {Map<string, string | undefined>} callers of the calls, the messages that made them
 * @property {any} agent
 * @property {{ session: string, messageId: string }} [forkedFrom]
 * @property {string} [imported] of which transcript
 * @property {number} createdMs
 * @property {number} [lastMs] of the newest message
 * @property {number} activeMs when it became active
 * @property {Record<string, any>} unknown fields of its document that leftoff does not know
 * @property {boolean} isEdited its document says what perhaps no event says yet
 * @property {Map<string, Uint8Array>} logs as they were seen last
 */

const TABLE = { active: ["paused", "completed"], paused: ["active", "completed"], completed: [] };

export class Model {
  /** @type {ModelSession[]} those that are there */
  sessions = [];
  /** @type {{ path: string, known: ModelSession }[]} */
  trash = [];
  /** @type {{ id: string, path: string } | undefined} the project's current one */
  pointer;
  /**
   * What each process has open, and what it has appended to since.
   * @type {{ open: Set<string>, held: Set<string> }[]}
   */
  processes = [];

  /** @param {number} processes */
  constructor(processes) {
    for (let n = 0; n < processes; n += 1) this.processes.push({ open: new Set(), held: new Set() });
  }

  /**
   * @param {Partial<ModelSession> & { id: string, path: string, placement: "home" | "workspace" }} begun
   * @param {number} now
   * @returns {ModelSession}
   */
  begin(begun, now) {
    /** @type {ModelSession} */
    const known = {
      project: undefined,
      type: "chat",
      status: "active",
      isArchived: false,
      messages: [],
      pins: new Set(),
      executions: [],
      callers: new Map(),
      agent: {},
      createdMs: now,
      activeMs: now,
      unknown: {},
      isEdited: false,
      logs: new Map(),
      ...begun,
    };
    this.sessions.push(known);
    return known;
  }

  /** Whether a status may become another one. @param {ModelSession} known @param {Status} status */
  may({ status: now }, status) {
    return now === status || /** @type {Record<string, string[]>} */ (TABLE)[now]?.includes(status) === true;
  }

  /**
   * Whoever looks pauses what rests and nobody else has.
   * @param {ModelSession[]} seen
   * @param {number} now
   * @param {number} [by]
   */
  look(seen, now, by) {
    for (const known of seen) if (this.isIdle(known, now, by)) known.status = "paused";
  }

  /**
   * Who looks for one may come by all, or only by that one: what others left is paused by whoever looks next, but
   * nobody else pauses what the process itself has open.
   * @param {ModelSession[]} seen @param {number} now @param {number} by
   */
  mayLook(seen, now, by) {
    this.look(seen, now);
    for (const known of seen) known.mayRest ||= this.isIdle(known, now, by);
  }

  /** A process opens one, unless it has. @param {number} by @param {ModelSession} known @param {number} now */
  opens(by, known, now) {
    const mine = this.processes[by];
    if (!mine || mine.open.has(known.id)) return;
    mine.held.delete(known.id);
    this.look([known], now, by);
    mine.open.add(known.id);
  }

  /** Whether another process has appended to it and not closed it. @param {number} by @param {ModelSession} known */
  isHeldBeside(by, { id }) {
    return this.processes.some(({ held }, other) => other !== by && held.has(id));
  }

  /** @param {ModelSession} known @param {number} now @param {number} [by] who looks */
  isIdle(known, now, by = -1) {
    const isHeld = this.isHeldBeside(by, known);
    const last = Math.max(known.activeMs, known.lastMs ?? known.createdMs);
    return known.status === "active" && !isHeld && now - last > IDLE_MS;
  }

  /** Those of a project: in the home, and all of the workspace. @param {string} project */
  ofProject(project) {
    return this.sessions.filter((known) => known.placement === "workspace" || known.project === project);
  }

  /** Those that a list has, last active first. @param {ModelSession[]} seen @param {any} wanted */
  listSessions(seen, { type, status, archived = status === "archived" }) {
    const has = (/** @type {ModelSession} */ known) =>
      (archived === null || archived === known.isArchived) &&
      (status === undefined || status === "archived" || status === known.status) &&
      (type === null || type === undefined || type === known.type);
    return seen.filter(has).sort((a, b) => lastActive(b) - lastActive(a));
  }

  /** Those that a word names. @param {string} word */
  findByWord(word) {
    const day = (/** @type {ModelSession} */ { path, name }) => `${path.split("/").at(-3)}/${name}`;
    const exact = this.sessions.filter(
      (known) => known.id === word || known.name === word || (known.placement === "workspace" && day(known) === word),
    );
    return exact.length > 0 ? exact : this.sessions.filter((known) => known.id.startsWith(word));
  }

  /**
   * Messages are appended; those that are there with a lower revision are written again.
   * @param {ModelSession} known
   * @param {ModelMessage[]} said
   * @param {number} ms when they were said
   * @param {{ revives?: boolean }} [options]
   */
  append(known, said, ms, { revives = true } = {}) {
    for (const one of said) {
      const message = { ms, ...one };
      const place = known.messages.findIndex(({ id }) => id === message.id);
      if (place < 0) known.messages.push(message);
      else known.messages[place] = message;
    }
    known.lastMs = Math.max(known.lastMs ?? 0, ms);
    if (revives && known.status === "paused") this.become(known, "active", ms);
  }

  /** @param {ModelSession} known @param {Status} status @param {number} ms */
  become(known, status, ms) {
    if (known.status !== status && status === "active") known.activeMs = ms;
    known.status = status;
  }
}

/** @param {ModelSession} known */
export function lastActive({ lastMs, createdMs }) {
  return lastMs ?? createdMs;
}

/** @param {ModelSession} known */
export function titleOf({ title, messages, type }) {
  return title ?? messages.find(({ role }) => role === "user")?.content ?? type;
}

/**
 * What a fork is called, so that no other one of the project is called so.
 * @param {ModelSession} known
 * @param {ModelSession[]} others
 */
export function forkTitleOf(known, others) {
  const taken = new Set(others.map(titleOf));
  const plain = titleOf(known).replace(/ \(fork(?: \d+)?\)$/, "");
  const numbers = Array.from({ length: taken.size + 1 }, (_, place) => place + 1);
  return numbers
    .map((number) => `${plain} (fork${number === 1 ? "" : ` ${number}`})`)
    .find((title) => !taken.has(title));
}
