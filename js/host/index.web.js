// @ts-check
/**
 * The public surface in a page or a worker, with the files of `pkg/` as text; `leftoff/slim` is the same without them.
 */

import { setLoader } from "./assets.web.js";
import { inflateBase64 } from "./inflate.js";
import { importInlined } from "./inlined-assets.js";

setLoader(async (name) => inflateBase64(await importInlined(name)));

export * from "../index.js";
