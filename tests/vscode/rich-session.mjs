// @ts-check
/** A session that has a bit of all: calls, edits, thinking, a sub-agent, an image and damage. */

import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { openStore } from "../../js/index.js";
import { root } from "../../scripts/run.mjs";

const FIXTURE = join(root, "tests", "fixtures", "claude-code", "ccsession-cli");
/** The smallest PNG that has a size. */
const IMAGE = "iVBORw0KGgoAAAANSUhEUgAAAAIAAAADCAIAAAA2iEnWAAAAEElEQVR4nGP4z8AARAwQCgAf7gP9i18U1AAAAABJRU5ErkJggg==";

/** Stores it as the newest, behind one without anything. @param {{ home: string, project: string }} at */
export async function storeRichSession({ home, project }) {
  const store = await openStore({ home: join(home, ".leftoff"), project });
  const plain = await store.create({ title: "Another session" });
  await plain.append({ role: "user", content: "Hello" });
  const { imported } = await store.import(FIXTURE);
  const [longest] = imported.sort((one, other) => other.messageCount - one.messageCount);
  const session = await store.session(longest.id);
  const attachments = [{ mime: "image/png", data: IMAGE, name: "shot.png" }];
  await session.append({ role: "user", content: "What does it look like?", attachments });
  appendFileSync(join(session.path, "messages.jsonl"), Uint8Array.of(255, 254, 10));
  await session.append({ role: "assistant", content: "Like **this**.", assistant: { model: "claude-sonnet-5-5" } });
  await session.rename("Mend the calculator");
  await store.close();
}
