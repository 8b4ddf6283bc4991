// @ts-check
/** Gives each step of a run of the AI SDK the messages that fit. */

import { modelOf } from "../index.js";
import { checkObject, refusal } from "../sdk/refusal.js";
import { saveNew, saveSteps } from "./steps.js";

/** @import { Session } from "../session/session.js" */
/** @import { ContextRequest } from "../types/index.js" */
/** @import { AiContextRequest, AiMessage, AiStepOptions, AiStepResult } from "../types/ai.js" */

/**
 * Makes the `prepareStep` of `generateText`, `streamText` and `ToolLoopAgent`: before each step, what the run has said
 * so far is saved into the session, durably, and the step gets the session's messages that fit. So a run that is killed
 * keeps each finished step. The last step is saved by `saveAnswer`.
 *
 * Of the messages that a run begins with, those after the last answer are saved, unless the session ends with them; an
 * empty session takes all.
 * @param {Session} session
 * @param {AiContextRequest} [request] as `Session.context` takes it, but for `format`. `model`: that of the step where
 *   leftoff knows it; `system`: the run's `instructions` in version 7; `tools`: the tools that the run is given
 * @returns {(step: AiStepOptions) => Promise<AiStepResult>}
 * @throws {LeftoffError} `invalid_request` for what is no session. What it makes throws, and then the run fails:
 *   `invalid_request` for tools without a JSON schema; what `append` throws; what `context` throws
 * @example
 * const prepareStep = contextFor(session, { window: 8000 });
 * const step = { stepNumber: 0, steps: [], messages: [{ role: "user", content: "Hello" }] };
 * (await prepareStep(step)).messages; // => [{ role: "user", content: "Hello" }]
 * session.metadata.stats.messageCount; // => 1
 */
export function contextFor(session, request = {}) {
  checkObject(session, "context", "a session");
  if (typeof request !== "object" || request === null) throw refusal("an object with a window", request);
  if ("format" in request) throw refusal('no "format": it is the AI SDK\'s', Reflect.get(request, "format"));
  return async (step) => {
    await saveStep(session, step);
    const { messages } = await session.context({ ...(await requestFor(step, request)), format: "ai-sdk" });
    return { messages };
  };
}

/** @param {Session} session @param {AiStepOptions} step */
async function saveStep(session, { steps, messages, experimental_steeringMessages: steering = [] }) {
  if (!Array.isArray(steps) || !Array.isArray(messages))
    throw refusal('the options of a "prepareStep" with steps and messages', steps);
  if (steps.length > 0) return saveSteps(session, steps, steering);
  const isNew = !(await session.messages({ newestFirst: true }).next()).value;
  await saveNew(session, isNew ? messages : messages.slice(lastAnswerIn(messages) + 1));
}

/** The place of the last answer. @param {readonly AiMessage[]} messages */
const lastAnswerIn = (messages) => messages.findLastIndex(({ role }) => role === "assistant");

/**
 * @param {AiStepOptions} step
 * @param {AiContextRequest} request
 * @returns {Promise<ContextRequest>}
 */
async function requestFor({ model, instructions }, request) {
  const name = typeof model === "string" ? model : model?.modelId;
  const known = request.encoding === undefined && name !== undefined && modelOf(name) ? { model: name } : {};
  const system = instructions === undefined ? {} : { system: textOf(instructions) };
  const tools = request.tools === undefined ? {} : { tools: await describeTools(request.tools) };
  return { ...known, ...system, ...request, ...tools };
}

/** The text of instructions: one, a message, or several messages. @param {NonNullable<AiStepOptions["instructions"]>} said */
function textOf(said) {
  const all = Array.isArray(said) ? said : [said];
  return all.map((one) => (typeof one === "string" ? one : one.content)).join("\n\n");
}

/** Tools as a provider is sent them. @param {Record<string, any>} tools */
async function describeTools(tools) {
  if (Array.isArray(tools)) return tools;
  return Promise.all(
    Object.entries(tools).map(async ([name, tool]) => ({
      name,
      description: tool?.description,
      inputSchema: await schemaOf(name, tool?.inputSchema),
    })),
  );
}

/**
 * The JSON schema of a tool's input: the SDK's `jsonSchema`, a library's that can write one, or plain JSON.
 * @param {string} name @param {any} given @returns {Promise<unknown>}
 */
async function schemaOf(name, given) {
  const schema = typeof given === "function" ? given() : given;
  if (schema === undefined || schema === null) return {};
  const written =
    schema.jsonSchema ?? schema["~standard"]?.jsonSchema?.input({ target: "draft-07" }) ?? schema.toJSONSchema?.();
  if (written === undefined && ("~standard" in schema || "validate" in schema))
    throw refusal(`a JSON schema for the input of the tool "${name}"`, schema);
  return written ?? schema;
}
