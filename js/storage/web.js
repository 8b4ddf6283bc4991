// @ts-check
/** What a page has for `NodeStorage`: a class that says why it is none. */

import { LeftoffError } from "../error.js";

/** The disk, which is not there. */
export class NodeStorage {
  constructor() {
    throw new LeftoffError({ code: "missing_dependency", message: "expected a disk for NodeStorage, but found a page, which has none: give a MemoryStorage, or an OpfsStorage in a worker" });
  }
}
