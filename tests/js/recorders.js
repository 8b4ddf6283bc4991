// @ts-check
/** Waits for the processes that hooks leave the recording to. */

import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";

import { findHolder } from "../../js/cli/hooks/lock.js";
import { settleRecordings } from "../../js/cli/hooks/recorder.js";

/**
 * Resolves once all that hooks have handed on is recorded, and nobody writes in the home any longer.
 * @param {string} home
 */
export async function recordersEnded(home) {
  await settleRecordings(home);
  const hooks = join(home, "cache", "hooks");
  for (const name of existsSync(hooks) ? readdirSync(hooks) : [])
    while (findHolder(join(hooks, name))) await setTimeout(1);
}
