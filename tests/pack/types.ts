// What a user's own compiler sees of the packed package, imported: names of what it gives, and no `any`.

import * as compat from "leftoff/compat";
import { loadWasm } from "leftoff/slim";
import { MemoryStorage } from "leftoff/storage/memory";
import { NodeStorage } from "leftoff/storage/node";
import { LeftoffError, countTokens, openStore, readTranscript } from "leftoff";
import type {
  ContextBuildResult,
  ContextReport,
  Draft,
  ErrorCode,
  Listed,
  OpenAiChatMessage,
  Session,
  SessionState,
  Storage,
  Store,
} from "leftoff";

type IsAny<T> = 0 extends 1 & T ? true : false;

export async function usePackage(storage: Storage, told: (...all: unknown[]) => void): Promise<Listed[]> {
  const store: Store = await openStore({ project: ".", storage });
  const session: Session = await store.continue({ model: "gpt-5" });
  const draft: Draft = { role: "user", content: "Hello" };
  const { records, acknowledged } = await session.append(draft);
  const safe: "durable" | "buffered" | "volatile" = acknowledged;
  const built: ContextBuildResult<"openai-chat"> = await session.context({ window: 8000, format: "openai-chat" });
  const messages: OpenAiChatMessage[] = built.messages;
  const storages: Storage[] = [new MemoryStorage(), new NodeStorage()];
  await loadWasm({ context: new Uint8Array(), reader: "https://example.com/reader.wasm" });
  const report: ContextReport = built.report;
  const state: SessionState = await session.state();
  const none: [
    IsAny<typeof messages>,
    IsAny<typeof report.budget>,
    IsAny<(typeof records)[number]>,
    IsAny<typeof state.modifiedFiles>,
  ] = [false, false, false, false];
  await session.append({ role: "user", content: [{ type: "text", text: "Hi" }] }, { format: "anthropic" });
  await session.append({ object: "chat.completion", choices: [] }).catch(told);
  // @ts-expect-error no key of a message
  await session.append({ rol: "user", contnt: "Hi" }).catch(told);
  const whole = { role: "user", content: "Hi" } as const;
  // @ts-expect-error a key beside those of a message
  await session.append([whole, { role: "user", contnt: "Hi" }]).catch(told);
  const mistyped = { rol: "user", contnt: "Hi" };
  // @ts-expect-error the same from a variable
  await session.append(mistyped).catch(told);
  // @ts-expect-error an option that is not known
  await store.list({ al: true });
  // @ts-expect-error an inside
  session.release();
  // @ts-expect-error stores are opened, not made
  new (store.constructor as typeof Store)();
  const manager = new compat.SessionManager({ home: "." });
  const provider: compat.ProviderInfo = { type: "openai", model: "gpt-5", contextWindow: 128_000 };
  const stored: compat.StoredMessage = await (
    await manager.createSession(".", provider)
  ).appendMessage({ role: "user", content: "Hello" });
  const count: number = await countTokens("hello");
  const counts: number[] = await countTokens(["hello"]);
  const transcript = await readTranscript(new Uint8Array());
  told(safe, none, storages.length, stored.tokenCount, count, counts, transcript.slice(0, 1)[0]?.content);
  return store.list();
}

export const codeOf = (error: unknown): ErrorCode | undefined =>
  error instanceof LeftoffError ? error.code : undefined;
