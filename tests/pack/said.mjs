// A conversation for the example of an extension to find.

import process from "node:process";
import { openStore } from "leftoff";

const [, , home, project] = process.argv;
const store = await openStore({ home, project });
const session = await store.create({ title: "The parser" });
await session.append({ role: "user", content: "Where were we?" });
await store.close();
