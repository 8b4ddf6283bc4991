// @ts-check
/** What the editor's models may ask: a search of all that was said to agents, and quotes on a question. */

import { LanguageModelTextPart, LanguageModelToolResult, lm } from "vscode";

import { answerCall, answerRecall, answerSearch } from "../answers/answers.js";

/** @import { ExtensionContext } from "vscode" */
/** @import { Store } from "../index.js" */
/** @import { OpenedStore } from "./opened-store.js" */

/** @type {Record<string, { told: string, answer: (store: Store, input: any) => Promise<string> }>} */
const TOOLS = {
  leftoff_search: { told: "Searching sessions", answer: (store, input) => answerSearch(store, input) },
  leftoff_recall: {
    told: "Recalling what was said before",
    answer: (store, { question }) => answerRecall(store, question),
  },
};

/** @param {ExtensionContext} context @param {OpenedStore} opened */
export function registerLanguageTools(context, opened) {
  if (typeof lm?.registerTool !== "function") return;
  for (const [name, { told, answer }] of Object.entries(TOOLS))
    context.subscriptions.push(
      lm.registerTool(name, {
        prepareInvocation: () => ({ invocationMessage: told }),
        async invoke({ input }) {
          const store = await opened.store();
          const { text } = await answerCall(store, () => answer(store, input));
          return new LanguageModelToolResult([new LanguageModelTextPart(text)]);
        },
      }),
    );
}
