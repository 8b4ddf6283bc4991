// @ts-check
/** What a page has for `NodeStorage`: a class that says why it is none. */

import { LeftoffError } from "../error.js";

/** The disk, which is not there. */
export class NodeStorage {
  constructor() {
    throw new LeftoffError({ code: "missing_dependency", message: "a page has no disk for NodeStorage: use MemoryStorage, or OpfsStorage in a worker" });
  }
}
