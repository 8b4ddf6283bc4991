// @ts-check
/** The host of tests/component, and what scripts ask of one beside that: git, what is a secret, and an end. */

import { join } from "node:path";

import { runGit } from "../../../../js/placement/git.js";
import { Host, bytesOf, refusal } from "../../../component/host.mjs";
import { secretsIn } from "../secrets.mjs";

/** What each need about a file is called where it is refused. @type {Record<string, string>} */
const VERBS = {
  read: "read",
  stat: "stat",
  entries: "list",
  append: "append to",
  replace: "replace",
  keep: "replace",
  put: "replace",
  hand: "read",
  remove: "remove",
  move: "move",
  copy: "copy",
  link: "link",
  hash: "read",
};

/** How the needs are answered that a small host passes by. @type {Record<string, (asked: any) => any>} */
const MORE = {
  git: async ({ input, ...asked }) => {
    const ran = await runGit(asked, bytesOf(input));
    return { tag: "ran", val: ran && { ...ran, status: ran.status ?? undefined, out: { tag: "bytes", val: ran.out } } };
  },
  secrets: async (texts) => ({ tag: "text", val: JSON.stringify(await secretsIn(texts)) }),
};

export class ScriptedHost extends Host {
  hasEnded = false;

  /** @param {ConstructorParameters<typeof Host>[0]} folders */
  constructor(folders) {
    super(folders);
    this.project = /** @type {string} */ (this.roots.project);
    this.home = folders.home;
    this.workspace = folders.workspace;
    this.redacts = folders.redact !== undefined && folders.redact !== "off";
  }

  /** Nothing is reached any more. */
  end() {
    this.hasEnded = true;
  }

  /** What is asked of a store is refused once that was closed. */
  refuseEnded() {
    if (this.hasEnded) throw refusal("storage_closed", "the store is closed");
  }

  /** @param {any} operation @param {Record<string, (asked: any) => any>} [own] */
  run(operation, own = {}) {
    return super.run(operation, { ...MORE, ...own, ...(this.hasEnded && this.#closedAnswers()) });
  }

  /** @returns {Record<string, (asked: any) => any>} */
  #closedAnswers() {
    const refused = (/** @type {string} */ verb) => (/** @type {any} */ asked) => {
      const { root, path } = asked.file ?? asked.folder ?? asked.from ?? asked;
      throw refusal(
        "storage_closed",
        `could not ${verb} "${join(root.val ?? this.roots[root.tag], path)}": the storage is closed`,
      );
    };
    return Object.fromEntries(Object.entries(VERBS).map(([need, verb]) => [need, refused(verb)]));
  }
}
