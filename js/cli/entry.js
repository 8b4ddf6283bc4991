#!/usr/bin/env node
// @ts-check
/** Where the command line begins: it loads no more than is run. */

import * as modules from "node:module";

// Node 22.8 and later keep what V8 compiled; others compile it at each start.
modules.enableCompileCache?.();
await import("./index.js");
