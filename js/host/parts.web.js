// @ts-check
/**
 * Small modules for hosts that load over a network: one reads transcripts, one builds contexts from them and counts.
 */

import * as context from "../../pkg/context.js";
import * as reader from "../../pkg/reader.js";

export const parts = { context, reader };
