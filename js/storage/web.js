// @ts-check
/** The page's stand-in for `NodeStorage`: a class that throws why there is none. */

import { LeftoffError } from "../error.js";

/** A local disk, which a page lacks. */
export class NodeStorage {
  constructor() {
    throw new LeftoffError({
      code: "missing_dependency",
      message: "a page has no disk for NodeStorage: use MemoryStorage, or OpfsStorage in a worker",
    });
  }
}
