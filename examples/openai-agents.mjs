// A program on the OpenAI Agents SDK whose conversations last: run it again, and it knows what was said before. With
// OPENAI_API_KEY set the SDK's own model answers, else one that repeats what it was told.
//
//     npm install leftoff @openai/agents
//     node openai-agents.mjs store "Hello"

import process from "node:process";
import { Agent, Runner, Usage, setTracingDisabled } from "@openai/agents";
import { openStore } from "leftoff";
import { contextFor, session } from "leftoff/openai";

const [home, text = "Hello"] = process.argv.slice(2);
const store = await openStore({ home });
try {
  const memory = session({ store, id: "first" });
  /** What stands in for a model. @type {import("@openai/agents").Model} */
  const echo = {
    async getResponse({ input }) {
      const said = input.map((item) => item.content).filter((content) => typeof content === "string");
      const content = [{ type: "output_text", text: `You said: ${said.join(", ")}` }];
      const output = [{ type: "message", role: "assistant", status: "completed", content }];
      return { usage: new Usage(), output };
    },
  };
  setTracingDisabled(true);
  const agent = new Agent({ name: "Assistant", model: process.env.OPENAI_API_KEY ? undefined : echo });
  const { finalOutput } = await new Runner().run(agent, text, {
    session: memory,
    sessionInputCallback: contextFor(memory, { window: 128_000 }),
  });
  console.log(finalOutput);
} finally {
  await store.close();
}
