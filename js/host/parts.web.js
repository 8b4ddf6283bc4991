// @ts-check
/** Modules for who loads over a network: what reads a transcript, and what builds contexts of it and counts. */

import * as context from "../../pkg/context.js";
import * as reader from "../../pkg/reader.js";

export const parts = { context, reader };
