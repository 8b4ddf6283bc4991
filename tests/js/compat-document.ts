// The code of SessionManager's design as its page prints it, of the types of leftoff/compat: tsc checks that it
// compiles. What the page leaves to its program is declared. compat-context.test.js runs its builder.

import type {
  AutoPersist,
  ContextBudget,
  ContextBuildResult,
  ContextStrategy,
  LLMClient,
  Message,
  Session,
  SessionState,
  StoredMessage,
  StrategyResult,
  Tokenizer,
} from "../../js/compat/index.js";

/** A message as it is sent. */
declare function toMessage(message: StoredMessage): Message;
declare function extractSessionState(session: Session): Promise<SessionState>;

export function calculateBudget(
  modelContextWindow: number,
  systemPrompt: string,
  toolDefinitions: string,
  tokenizer: Tokenizer,
): ContextBudget {
  const systemTokens = tokenizer.count(systemPrompt);
  const toolTokens = tokenizer.count(toolDefinitions);
  const reserveForResponse = Math.floor(modelContextWindow * 0.25);

  const available = modelContextWindow - systemTokens - toolTokens - reserveForResponse;

  return {
    modelContextWindow,
    systemPromptTokens: systemTokens,
    toolDefinitionTokens: toolTokens,
    reserveForResponse,
    availableTokens: Math.max(0, available),
    currentConversationTokens: 0,
    utilizationPercent: 0,
  };
}

export class ContextBuilder {
  private strategies: ContextStrategy[];
  private tokenizer: Tokenizer;

  constructor(tokenizer: Tokenizer) {
    this.tokenizer = tokenizer;
    this.strategies = [];
  }

  registerStrategy(strategy: ContextStrategy): void {
    this.strategies.push(strategy);
    this.strategies.sort((a, b) => a.priority - b.priority);
  }

  async buildContext(session: Session, budget: ContextBudget): Promise<ContextBuildResult> {
    const allMessages = await session.getMessages();
    const totalTokens = await session.getTotalTokens();

    // If everything fits, use full history
    if (totalTokens <= budget.availableTokens) {
      return {
        messages: allMessages,
        strategy: "full-history",
        tokensUsed: totalTokens,
        tokenBudget: budget.availableTokens,
        originalMessageCount: allMessages.length,
        includedMessageCount: allMessages.length,
        summarizedMessageCount: 0,
      };
    }

    // Try strategies until one fits
    for (const strategy of this.strategies) {
      if (budget.availableTokens < strategy.minTokens) {
        continue;
      }

      const result = await strategy.build(session, budget.availableTokens, this.tokenizer);
      const tokensUsed = this.tokenizer.countMessages(result.messages);

      if (tokensUsed <= budget.availableTokens) {
        return {
          messages: result.messages,
          strategy: strategy.name,
          tokensUsed,
          tokenBudget: budget.availableTokens,
          originalMessageCount: allMessages.length,
          includedMessageCount: result.includedCount,
          summarizedMessageCount: result.summarizedCount,
        };
      }
    }

    // Fallback: minimal context always works
    return this.buildMinimalContext(session, budget);
  }

  // The page names it and leaves it to its program.
  private async buildMinimalContext(session: Session, budget: ContextBudget): Promise<ContextBuildResult> {
    const messages = (await session.getMessages()).slice(-1);
    return {
      messages,
      strategy: "fallback",
      tokensUsed: this.tokenizer.countMessages(messages),
      tokenBudget: budget.availableTokens,
      originalMessageCount: messages.length,
      includedMessageCount: messages.length,
      summarizedMessageCount: 0,
    };
  }
}

export const fullHistoryStrategy: ContextStrategy = {
  name: "full-history",
  priority: 1,
  minTokens: 0,

  async build(session, budgetTokens, tokenizer): Promise<StrategyResult> {
    const messages = await session.getMessages();
    return {
      messages: messages.map(toMessage),
      includedCount: messages.length,
      summarizedCount: 0,
    };
  },
};

const RECENT_MESSAGE_COUNT = 6; // Keep last 3 exchanges verbatim

export const prunedToolsStrategy: ContextStrategy = {
  name: "pruned-tools",
  priority: 2,
  minTokens: 2000,

  async build(session, budgetTokens, tokenizer): Promise<StrategyResult> {
    const messages = await session.getMessages();

    const processed = messages.map((msg, i) => {
      const isRecent = i >= messages.length - RECENT_MESSAGE_COUNT;

      if (msg.role === "tool" && !isRecent) {
        return {
          ...msg,
          content: pruneToolResult(msg.content, msg.toolName),
        };
      }

      return msg;
    });

    return {
      messages: processed.map(toMessage),
      includedCount: messages.length,
      summarizedCount: 0,
    };
  },
};

function pruneToolResult(content: string, toolName?: string): string {
  const lines = content.split("\n").length;
  const chars = content.length;

  switch (toolName) {
    case "Read":
    case "read_file":
      // Keep first/last few lines as preview
      const fileLines = content.split("\n");
      if (fileLines.length > 20) {
        const preview = [
          ...fileLines.slice(0, 10),
          `\n... [${fileLines.length - 20} lines omitted] ...\n`,
          ...fileLines.slice(-10),
        ].join("\n");
        return `[File: ${lines} lines]\n${preview}`;
      }
      return content;

    case "Bash":
    case "execute_bash":
      if (chars > 1000) {
        return `[Command output: ${chars} chars]\n${content.slice(0, 400)}\n...\n${content.slice(-400)}`;
      }
      return content;

    case "Grep":
    case "search":
      const matches = (content.match(/\n/g) || []).length + 1;
      if (chars > 800) {
        return `[Search: ${matches} results]\n${content.slice(0, 600)}...`;
      }
      return content;

    default:
      if (chars > 800) {
        return `[Tool output: ${chars} chars]\n${content.slice(0, 600)}...`;
      }
      return content;
  }
}

export const SUMMARY_TARGET_RATIO = 0.3; // Summary should be ~30% of budget

export const recentPlusSummaryStrategy: ContextStrategy = {
  name: "recent-plus-summary",
  priority: 3,
  minTokens: 1500,

  async build(session, budgetTokens, tokenizer): Promise<StrategyResult> {
    const messages = await session.getMessages();

    if (messages.length <= RECENT_MESSAGE_COUNT) {
      return {
        messages: messages.map(toMessage),
        includedCount: messages.length,
        summarizedCount: 0,
      };
    }

    const recentMessages = messages.slice(-RECENT_MESSAGE_COUNT);
    const olderMessages = messages.slice(0, -RECENT_MESSAGE_COUNT);

    const recentTokens = tokenizer.countMessages(recentMessages.map(toMessage));
    const summaryBudget = Math.floor((budgetTokens - recentTokens) * 0.9);

    // Get or generate summary
    const summary = await session.getSummaryForRange(
      olderMessages[0].id,
      olderMessages[olderMessages.length - 1].id,
      summaryBudget,
    );

    return {
      messages: [
        {
          role: "system",
          content: `## Prior Conversation Summary\n\n${summary}\n\n---\n\n## Recent Messages Follow`,
        },
        ...recentMessages.map(toMessage),
      ],
      includedCount: recentMessages.length,
      summarizedCount: olderMessages.length,
    };
  },
};

export const minimalStateStrategy: ContextStrategy = {
  name: "minimal-state",
  priority: 4,
  minTokens: 400,

  async build(session, budgetTokens, tokenizer): Promise<StrategyResult> {
    const messages = await session.getMessages();
    const state = await extractSessionState(session);
    const lastUserMessage = messages.filter((m) => m.role === "user").pop();

    const stateContext = formatStateContext(state);

    return {
      messages: [
        { role: "system", content: stateContext },
        { role: "user", content: lastUserMessage?.content || "" },
      ],
      includedCount: 1,
      summarizedCount: messages.length - 1,
    };
  },
};

function formatStateContext(state: SessionState): string {
  return `You are continuing a coding session.

PROJECT: ${state.projectPath}

ORIGINAL TASK: ${state.originalTask}

FILES MODIFIED THIS SESSION:
${state.modifiedFiles.map((f) => `- ${f.path} (${f.action})`).join("\n") || "- None yet"}

CURRENT STATUS: ${state.currentStatus}

${state.keyDecisions.length ? `KEY DECISIONS MADE:\n${state.keyDecisions.map((d) => `- ${d}`).join("\n")}` : ""}

${state.blockers.length ? `CURRENT BLOCKERS:\n${state.blockers.map((b) => `- ${b}`).join("\n")}` : ""}

Continue assisting with the user's request below.`;
}

const SUMMARIZATION_SYSTEM_PROMPT = `You are summarizing a coding conversation for context continuity.
The summary will be injected into a future conversation so the AI can continue helping.

PRESERVE in your summary:
- The original task/goal the user requested
- Key technical decisions and their rationale
- Files that were created, modified, or deleted
- Current state of the work (what's done, what's pending)
- Any errors encountered and how they were resolved
- Important constraints or preferences the user mentioned

DO NOT include:
- Greetings, pleasantries, or filler
- Full file contents (just note what files were involved)
- Detailed tool outputs (just outcomes)
- Redundant information

Write as a concise narrative paragraph, not bullet points.`;

export async function generateSummary(
  messages: StoredMessage[],
  targetTokens: number,
  summarizer: LLMClient,
): Promise<string> {
  const conversation = formatMessagesForSummary(messages);

  const response = await summarizer.complete({
    messages: [
      { role: "system", content: SUMMARIZATION_SYSTEM_PROMPT },
      {
        role: "user",
        content: `Target length: approximately ${targetTokens} tokens.\n\nCONVERSATION TO SUMMARIZE:\n\n${conversation}`,
      },
    ],
    maxTokens: targetTokens + 100, // Small buffer
  });

  return response.content;
}

function formatMessagesForSummary(messages: StoredMessage[]): string {
  return messages
    .map((m) => {
      const role = m.role.toUpperCase();
      const content = m.role === "tool" ? `[Tool ${m.toolName}: ${m.content.slice(0, 200)}...]` : m.content;
      return `${role}: ${content}`;
    })
    .join("\n\n");
}

declare const session: Session;
declare const contextBuilder: ContextBuilder;
declare const budget: ContextBudget;
declare const autoPersist: AutoPersist;
declare const llm: {
  chat(request: {
    messages: Message[];
  }): Promise<{ content: string; toolCalls: { id: string; name: string; arguments: Record<string, unknown> }[] }>;
};
declare function executeTool(call: { id: string; name: string; arguments: Record<string, unknown> }): Promise<string>;

export async function handleUserMessage(content: string) {
  // 1. Append to session (immediate, crash-safe)
  await session.appendMessage({ role: "user", content });

  // 2. Build context for LLM call
  const context = await contextBuilder.buildContext(session, budget);

  // 3. Call LLM
  const response = await llm.chat({ messages: context.messages });

  // 4. Append response to session
  await session.appendMessage({ role: "assistant", content: response.content });

  // 5. Handle tool calls
  for (const toolCall of response.toolCalls) {
    const result = await executeTool(toolCall);
    await session.appendToolExecution(toolCall, result);
  }

  // 6. Schedule metadata update (debounced)
  autoPersist.scheduleMetadataUpdate();
}

process.on("SIGTERM", async () => {
  await session.updateMetadata({
    lastAccessedAt: new Date().toISOString(),
  });
  await session.flush();
  process.exit(0);
});

process.on("SIGINT", async () => {
  await session.updateMetadata({
    lastAccessedAt: new Date().toISOString(),
  });
  await session.flush();
  process.exit(0);
});
