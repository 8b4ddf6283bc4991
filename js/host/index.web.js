// @ts-check
/** The public surface in a page or a worker, with the files of pkg/ as text: `leftoff/slim` is the same without. */

import { bring } from "./assets.web.js";
import { inflated } from "./inflated.js";
import { inlined } from "./inlined.js";

bring(async (name) => inflated(await inlined(name)));

export * from "../index.js";
