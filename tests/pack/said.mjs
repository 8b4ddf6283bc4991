// A conversation for the examples of an extension and of a host to find.

import process from "node:process";
import { openStore } from "leftoff";

const [, , home, project] = process.argv;
const store = await openStore({ home, project });
const session = await store.create({ title: "The parser" });
await session.append({ role: "user", content: "Where were we?" });
await session.append({ role: "assistant", content: "We pinned croniter, for version 2 drops Python 3.8." });
await session.stop();
await store.close();
