// @ts-check
/** The component under scripts: what each operation is in its interfaces, by the host of tests/component. */

import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { LeftoffError } from "../../../js/index.js";
import { realPath, rejectUnlessFolder } from "../../../js/storage/real-path.js";
import { entropy, nowMs, offsetMinutes } from "../../../js/wasm/clock.js";
import { know } from "../../component/host.mjs";
import { json, placementOf } from "./component/answers.mjs";
import { Following } from "./component/following.mjs";
import { ScriptedHost } from "./component/host.mjs";
import { PLAIN } from "./component/plain.mjs";
import { OF_SESSIONS, callerAnswers } from "./component/sessions.mjs";
import { OF_STORES, OPENING } from "./component/stores.mjs";
import { withCallerFunctions } from "./caller-functions.mjs";

/** @import { Surface } from "./host.mjs" */
/** @import { Stamps } from "./stamps.mjs" */

for (const encoding of ["o200k_base", "cl100k_base"])
  know(fileURLToPath(new URL(`../../../pkg/${encoding}.planes`, import.meta.url)));

/** @implements {Surface} */
export class Component {
  /** @type {Map<string, ScriptedHost>} */
  #hosts = new Map();
  /** @type {Map<string, { host: ScriptedHost, session: any }>} */
  #sessions = new Map();
  /** @type {Promise<unknown>} */
  #last = Promise.resolve();

  /** @param {{ root: string, stamps: Stamps }} host */
  constructor({ root, stamps }) {
    this.root = root;
    this.stamps = stamps;
  }

  // Nothing comes between its calls.
  arm() {}

  /** @param {any} error */
  refusal(error) {
    const told =
      error.payload ??
      (error.failure
        ? { code: error.failure, message: error.message }
        : error instanceof LeftoffError
          ? error
          : undefined);
    return told?.code === "internal" ? undefined : told;
  }

  /** @param {string} op @param {any} asked @param {{ as?: string, store: string, session: string }} names */
  does(op, asked, names) {
    if (op === "follow") return this.#follow(names.session, asked);
    return this.#inTurn(() => this.#does(op, asked, names));
  }

  /** One after another: the host knows no turns. @template T @param {() => Promise<T>} work @returns {Promise<T>} */
  #inTurn(work) {
    const mine = this.#last.then(work);
    this.#last = mine.catch(() => {});
    return mine;
  }

  /** What comes to who follows, until there are so many. @param {string} name @param {{ most?: number }} asked */
  async #follow(name, { most = 0 }) {
    const following = await this.#inTurn(async () => {
      const { host, session } = this.#findSession(name);
      const following = new Following(host, session.follow());
      await following.begin();
      return following;
    });
    while (following.all.length < most) {
      const before = following.all.length;
      const looking = this.#inTurn(() => following.look());
      const last = this.#last;
      await looking;
      if (following.all.length === before && this.#last === last)
        throw new Error(`expected ${most} messages to come, but found ${before}, and nobody who appends more`);
    }
    return following.all.slice(0, most);
  }

  /** @param {string} name */
  #findSession(name) {
    const one = this.#sessions.get(name);
    if (!one) throw new Error(`expected the session "${name}", but found none`);
    return one;
  }

  /** @param {string} op @param {any} asked @param {{ as?: string, store: string, session: string }} names */
  async #does(op, asked, { as, store, session }) {
    if (op === "openStore") return this.#openHost(as ?? store, asked);
    if (PLAIN[op]) return PLAIN[op](asked);
    const host = this.#hosts.get(store);
    if (op === "closeStore") return host && this.#closeHost(host);
    const known = this.#sessions.get(session)?.session;
    const ofStore = OF_STORES[op];
    if (host && (op in OF_STORES || op in OPENING)) host.refuseEnded();
    if (host && ofStore) return ofStore({ host, session: known, own: {}, asked: withCallerFunctions(asked, []) });
    const opening = OPENING[op];
    if (host && opening)
      return this.#addSession(as ?? session, host, await opening({ host, session: known, own: {}, asked }));
    const ofSession = OF_SESSIONS[op];
    if (!ofSession) throw new Error(`expected an operation, but found "${op}" instead`);
    const one = this.#findSession(session);
    /** @type {unknown[]} */
    const requests = [];
    const caller = withCallerFunctions(asked, requests);
    const answer = await ofSession({ ...one, own: callerAnswers(one.host, one.session, caller), asked: caller });
    return asked.summarize ? { answer, requests } : answer;
  }

  /** @param {string} name @param {any} options */
  async #openHost(
    name,
    { project = join(this.root, "project"), home = join(this.root, "home"), workspace, idleMs, redact, countTokens },
  ) {
    rejectUnlessFolder(home);
    const folders = {
      project: realPath(project),
      home,
      workspace: workspace === undefined ? undefined : realPath(workspace),
      countTokens,
    };
    const open = (/** @type {{ idleMs: number, redact?: string }} */ how) =>
      new ScriptedHost({ ...folders, clock: { nowMs, offsetMinutes, entropy }, ...how });
    const before = open({ idleMs: 0 });
    const { settings, problems } = await json(before.run(before.store.settings()));
    this.#hosts.set(name, open({ idleMs: idleMs ?? settings.idleMinutes * 60_000, redact: redact ?? settings.redact }));
    return problems.length > 0 ? { problems } : undefined;
  }

  /** What opens a session is answered by it. @param {string} name @param {ScriptedHost} host @param {any} session */
  #addSession(name, host, session) {
    if (!session) return undefined;
    this.#sessions.set(name, { host, session });
    const { display, lifecycle, stats } = JSON.parse(session.metadata());
    return {
      id: session.id(),
      path: session.path(),
      placement: placementOf(session),
      title: display.title,
      lifecycle,
      messageCount: stats.messageCount,
      notices: JSON.parse(session.notices()),
    };
  }

  /** @param {ScriptedHost} host */
  async #closeHost(host) {
    if (host.hasEnded) return;
    await host.run(host.store.close());
    host.end();
  }

  /** @param {string} name */
  session(name) {
    const found = this.#sessions.get(name);
    return found && { id: found.session.id(), path: found.session.path() };
  }

  async end() {
    await this.#last;
    for (const host of this.#hosts.values()) await this.#closeHost(host).catch(() => {});
    this.#hosts.clear();
  }
}
