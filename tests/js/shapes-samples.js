// @ts-check
// What providers answer, in their own words, and what a log has of it then.

const PNG = "iVBORw0KGgo=";
const weather = { city: "Berlin" };
const call = { id: "call_1", name: "weather", arguments: '{"city":"Berlin"}' };
/** @param {object} draft */
const user = (draft) => ({ role: "user", content: "", ...draft });
/** @param {object} draft */
const answer = (draft) => ({ role: "assistant", content: "", ...draft });
/** @param {string} content @param {object} [draft] */
const result = (content, draft) => ({ role: "tool", content, tool: { callId: "call_1", name: "weather" }, ...draft });
const searched = '[web_search_call] {"id":"ws_1","status":"completed","action":{"type":"search","query":"x"}}';
const failed = { tool: { callId: "call_1", name: "weather", isError: true } };
const denied = { tool: { ...failed.tool, notRun: true } };
const value = { tool: { callId: "call_1", name: "weather", isJson: true } };

/**
 * `type` is the vendor's, exported by `from`.
 * @type {{ format: import("../../js/types/index.js").Format, from: string, type: string, value: any, drafts: object[] }[]}
 */
export const answers = [
  {
    format: "openai-chat",
    from: "openai/resources/chat/completions",
    type: "ChatCompletion",
    value: {
      id: "chatcmpl-1",
      object: "chat.completion",
      created: 1,
      model: "gpt-5",
      choices: [
        {
          index: 0,
          finish_reason: "tool_calls",
          logprobs: null,
          message: {
            role: "assistant",
            content: "Let me look.",
            refusal: null,
            tool_calls: [
              { id: "call_1", type: "function", function: { name: "weather", arguments: '{"city":"Berlin"}' } },
            ],
          },
        },
      ],
      usage: {
        prompt_tokens: 100,
        completion_tokens: 20,
        total_tokens: 120,
        prompt_tokens_details: { cached_tokens: 60 },
        completion_tokens_details: { reasoning_tokens: 5 },
      },
    },
    drafts: [
      answer({
        content: "Let me look.",
        assistant: {
          model: "gpt-5",
          toolCalls: [call],
          finishReason: "tool_calls",
          usage: { input: 40, output: 20, cacheRead: 60, reasoning: 5 },
        },
      }),
    ],
  },
  {
    format: "openai-chat",
    from: "openai/resources/chat/completions",
    type: "ChatCompletionMessageParam[]",
    value: [
      { role: "developer", content: [{ type: "text", text: "be brief" }] },
      {
        role: "user",
        content: [
          { type: "text", text: "see" },
          { type: "image_url", image_url: { url: `data:image/png;base64,${PNG}` } },
          { type: "image_url", image_url: { url: "https://example.com/a.png" } },
          { type: "file", file: { file_id: "file-1" } },
        ],
      },
      {
        role: "assistant",
        tool_calls: [{ id: "call_1", type: "custom", custom: { name: "weather", input: "in Berlin" } }],
      },
      { role: "tool", tool_call_id: "call_1", content: [{ type: "text", text: "sun" }] },
      { role: "assistant", content: [{ type: "refusal", refusal: "no" }] },
    ],
    drafts: [
      { role: "system", content: "be brief" },
      user({
        content: 'see\n\n[file] {"file":{"file_id":"file-1"}}',
        attachments: [
          { mime: "image/png", data: PNG },
          { mime: "image/*", path: "https://example.com/a.png" },
        ],
      }),
      answer({ assistant: { toolCalls: [{ ...call, arguments: "in Berlin" }] } }),
      result("sun"),
      answer({ content: "no" }),
    ],
  },
  {
    format: "openai-responses",
    from: "openai/resources/responses/responses",
    type: "Pick<Response, 'id' | 'object' | 'model' | 'status' | 'output' | 'usage'>",
    value: {
      id: "resp_1",
      object: "response",
      model: "gpt-5",
      status: "completed",
      output: [
        { type: "reasoning", id: "rs_1", summary: [{ type: "summary_text", text: "hm" }], encrypted_content: "gAAA" },
        {
          type: "message",
          id: "msg_1",
          role: "assistant",
          status: "completed",
          content: [{ type: "output_text", text: "Let me look.", annotations: [] }],
        },
        {
          type: "function_call",
          id: "fc_1",
          call_id: "call_1",
          name: "weather",
          arguments: '{"city":"Berlin"}',
          status: "completed",
        },
      ],
      usage: {
        input_tokens: 100,
        input_tokens_details: { cached_tokens: 60, cache_write_tokens: 0 },
        output_tokens: 20,
        output_tokens_details: { reasoning_tokens: 5 },
        total_tokens: 120,
      },
    },
    drafts: [
      answer({
        content: "Let me look.",
        assistant: {
          model: "gpt-5",
          toolCalls: [call],
          finishReason: "completed",
          reasoning: [{ text: "hm", data: "gAAA" }],
          usage: { input: 40, output: 20, cacheRead: 60, cacheWrite: 0, reasoning: 5 },
        },
      }),
    ],
  },
  {
    format: "openai-responses",
    from: "openai/resources/responses/responses",
    type: "ResponseInputItem[]",
    value: [
      {
        role: "user",
        content: [
          { type: "input_text", text: "see" },
          { type: "input_image", detail: "auto", image_url: `data:image/png;base64,${PNG}` },
        ],
      },
      { type: "function_call", call_id: "call_1", name: "weather", arguments: '{"city":"Berlin"}' },
      { type: "function_call_output", call_id: "call_1", output: [{ type: "input_text", text: "sun" }] },
      { type: "web_search_call", id: "ws_1", status: "completed", action: { type: "search", query: "x" } },
      {
        type: "message",
        id: "msg_1",
        role: "assistant",
        status: "completed",
        content: [{ type: "refusal", refusal: "no" }],
      },
    ],
    drafts: [
      user({ content: "see", attachments: [{ mime: "image/png", data: PNG }] }),
      answer({ assistant: { toolCalls: [call] } }),
      result("sun"),
      answer({
        content: `${searched}\n\nno`,
        assistant: { order: [{ text: [0, searched.length] }, { text: [searched.length + 2, searched.length + 4] }] },
      }),
    ],
  },
  {
    format: "anthropic",
    from: "@anthropic-ai/sdk/resources/messages",
    type: "Pick<Message, 'id' | 'type' | 'role' | 'model' | 'content' | 'stop_reason' | 'stop_sequence' | 'usage'>",
    value: {
      id: "msg_1",
      type: "message",
      role: "assistant",
      model: "claude-opus-5",
      content: [
        { type: "thinking", thinking: "hm", signature: "c2ln" },
        { type: "redacted_thinking", data: "cmVk" },
        { type: "text", text: "Let me look.", citations: null },
        { type: "tool_use", id: "call_1", name: "weather", input: weather, caller: { type: "direct" } },
      ],
      stop_reason: "tool_use",
      stop_sequence: null,
      usage: {
        input_tokens: 40,
        output_tokens: 20,
        cache_read_input_tokens: 60,
        cache_creation_input_tokens: 7,
        output_tokens_details: { thinking_tokens: 5 },
        ...{ cache_creation: null, inference_geo: null, server_tool_use: null, service_tier: null, speed: null },
      },
    },
    drafts: [
      answer({
        content: "Let me look.",
        assistant: {
          model: "claude-opus-5",
          toolCalls: [call],
          finishReason: "tool_use",
          reasoning: [
            { text: "hm", signature: "c2ln" },
            { text: "", data: "cmVk" },
          ],
          usage: { input: 40, output: 20, cacheRead: 60, cacheWrite: 7, reasoning: 5 },
        },
      }),
    ],
  },
  {
    format: "anthropic",
    from: "@anthropic-ai/sdk/resources/messages",
    type: "MessageParam[]",
    value: [
      {
        role: "assistant",
        content: [
          { type: "tool_use", id: "call_1", name: "weather", input: weather },
          { type: "tool_use", id: "call_2", name: "map", input: {} },
        ],
      },
      {
        role: "user",
        content: [
          { type: "tool_result", tool_use_id: "call_1", content: "no sun", is_error: true },
          {
            type: "tool_result",
            tool_use_id: "call_2",
            content: [
              { type: "text", text: "a map" },
              { type: "image", source: { type: "base64", media_type: "image/png", data: PNG } },
            ],
          },
          { type: "text", text: "and now?" },
          { type: "document", title: "notes", source: { type: "text", media_type: "text/plain", data: "hello" } },
        ],
      },
    ],
    drafts: [
      answer({ assistant: { toolCalls: [call, { id: "call_2", name: "map", arguments: "{}" }] } }),
      result("no sun", failed),
      result("a map", { tool: { callId: "call_2", name: "map" }, attachments: [{ mime: "image/png", data: PNG }] }),
      user({ content: "and now?", attachments: [{ mime: "text/plain", name: "notes", data: "aGVsbG8=" }] }),
    ],
  },
  {
    format: "gemini",
    from: "@google/genai",
    type: "Pick<GenerateContentResponse, 'modelVersion' | 'candidates' | 'usageMetadata'>",
    value: {
      modelVersion: "gemini-3-pro",
      candidates: [
        {
          content: {
            role: "model",
            parts: [
              { text: "hm", thought: true },
              { text: "Let me look." },
              { functionCall: { name: "weather", args: weather }, thoughtSignature: "c2ln" },
            ],
          },
          finishReason: "STOP",
        },
      ],
      usageMetadata: {
        promptTokenCount: 100,
        cachedContentTokenCount: 60,
        candidatesTokenCount: 20,
        thoughtsTokenCount: 5,
        totalTokenCount: 125,
      },
    },
    drafts: [
      answer({
        content: "Let me look.",
        assistant: {
          model: "gemini-3-pro",
          toolCalls: [{ ...call, id: "weather" }],
          finishReason: "STOP",
          reasoning: [{ text: "hm" }, { text: "", signature: "c2ln" }],
          usage: { input: 40, output: 25, cacheRead: 60, reasoning: 5 },
          order: [{ reasoning: 0 }, { text: [0, 12] }, { reasoning: 1 }, { call: 0 }],
        },
      }),
    ],
  },
  {
    format: "gemini",
    from: "@google/genai",
    type: "Content[]",
    value: [
      {
        role: "model",
        parts: [{ functionCall: { name: "weather", args: weather } }, { functionCall: { name: "weather", args: {} } }],
      },
      {
        role: "user",
        parts: [
          { functionResponse: { name: "weather", response: { output: "sun" } } },
          { functionResponse: { name: "weather", response: { error: "no city" } } },
        ],
      },
      {
        parts: [
          { text: "see" },
          { inlineData: { mimeType: "image/png", data: PNG } },
          { fileData: { mimeType: "video/mp4", fileUri: "gs://a/b.mp4" } },
        ],
      },
      { role: "model", parts: [{ executableCode: { code: "1" } }] },
    ],
    drafts: [
      answer({
        assistant: {
          toolCalls: [
            { ...call, id: "weather" },
            { id: "weather#2", name: "weather", arguments: "{}" },
          ],
        },
      }),
      result("sun", { tool: { callId: "weather", name: "weather" } }),
      result("no city", { tool: { callId: "weather#2", name: "weather", isError: true } }),
      user({
        content: "see",
        attachments: [
          { mime: "image/png", data: PNG },
          { mime: "video/mp4", path: "gs://a/b.mp4" },
        ],
      }),
      answer({ content: '[part] {"executableCode":{"code":"1"}}' }),
    ],
  },
  {
    format: "ai-sdk",
    from: "ai-current",
    type: "ModelMessage[]",
    value: [
      {
        role: "user",
        content: [
          { type: "text", text: "see" },
          { type: "image", image: PNG },
          { type: "file", mediaType: "image/png", data: { type: "data", data: PNG } },
        ],
      },
      {
        role: "assistant",
        content: [
          { type: "reasoning", text: "hm" },
          { type: "tool-call", toolCallId: "call_1", toolName: "weather", input: weather },
        ],
      },
      ...[
        { type: "text", value: "sun" },
        { type: "json", value: { sun: true } },
        { type: "error-text", value: "no sun" },
        { type: "error-json", value: ["no"] },
        { type: "execution-denied", reason: "not now" },
        { type: "execution-denied" },
        {
          type: "content",
          value: [
            { type: "text", text: "a map" },
            { type: "file-data", mediaType: "image/png", data: PNG },
          ],
        },
      ].map((output) => ({
        role: "tool",
        content: [{ type: "tool-result", toolCallId: "call_1", toolName: "weather", output }],
      })),
      { role: "assistant", content: "done" },
    ],
    drafts: [
      user({
        content: "see",
        attachments: [
          { mime: "image/png", data: PNG },
          { mime: "image/png", data: PNG },
        ],
      }),
      answer({ assistant: { toolCalls: [call], reasoning: [{ text: "hm" }] } }),
      result("sun"),
      result('{"sun":true}', value),
      result("no sun", failed),
      result('["no"]', { tool: { ...failed.tool, isJson: true } }),
      result("not now", denied),
      result("[The tool was not allowed to run.]", denied),
      result("a map", { attachments: [{ mime: "image/png", data: PNG }] }),
      answer({ content: "done" }),
    ],
  },
  {
    format: "ai-sdk-ui",
    from: "ai-current",
    type: "UIMessage[]",
    value: [
      {
        id: "1",
        role: "user",
        parts: [
          { type: "text", text: "see" },
          { type: "file", mediaType: "image/png", filename: "a.png", url: `data:image/png;base64,${PNG}` },
        ],
      },
      {
        id: "2",
        role: "assistant",
        parts: [
          { type: "step-start" },
          { type: "reasoning", text: "hm" },
          { type: "text", text: "Let me look." },
          {
            type: "tool-weather",
            toolCallId: "call_1",
            state: "output-available",
            input: weather,
            output: { sun: true },
          },
          { type: "step-start" },
          {
            type: "dynamic-tool",
            toolName: "weather",
            toolCallId: "call_1",
            state: "output-error",
            input: weather,
            errorText: "no sun",
          },
          { type: "step-start" },
          {
            type: "tool-weather",
            toolCallId: "call_1",
            state: "output-denied",
            input: weather,
            approval: { id: "a", approved: false, reason: "not now" },
          },
          { type: "step-start" },
          { type: "source-url", sourceId: "s", url: "https://example.com" },
          { type: "data-chart", data: [1] },
          { type: "text", text: "done" },
          { type: "tool-weather", toolCallId: "call_1", state: "input-available", input: weather },
        ],
      },
    ],
    drafts: [
      user({ content: "see", attachments: [{ mime: "image/png", name: "a.png", data: PNG }] }),
      answer({ content: "Let me look.", assistant: { toolCalls: [call], reasoning: [{ text: "hm" }] } }),
      result('{"sun":true}', value),
      answer({ assistant: { toolCalls: [call] } }),
      result("no sun", failed),
      answer({ assistant: { toolCalls: [call] } }),
      result("not now", denied),
      answer({ content: "done", assistant: { toolCalls: [call] } }),
    ],
  },
];

/** Stored messages with everything that shapes differ in: results that miss, err, come late, or have no call. */
export const drafts = [
  { role: "system", content: "be brief" },
  user({
    content: "look",
    attachments: [
      { mime: "image/png", data: PNG, name: "a.png" },
      { mime: "application/pdf", data: "JVBERg==" },
      { mime: "text/plain", data: "aGVsbG8=", name: "notes.txt" },
      { mime: "audio/wav", data: "UklGRg==" },
      { mime: "image/jpeg", path: "https://example.com/a.jpg" },
      { mime: "image/png", path: "/home/ann/a.png" },
    ],
  }),
  answer({
    content: "I look.",
    assistant: {
      toolCalls: [call, { id: "call 2 ü", name: "map.of", arguments: "cut {" }, { id: "", name: "", arguments: "" }],
      reasoning: [{ text: "hm" }],
    },
  }),
  user({ content: "  " }),
  result("a map", { tool: { callId: "call 2 ü", name: "map.of" }, attachments: [{ mime: "image/png", data: PNG }] }),
  result("no sun", failed),
  result("nobody asked", { tool: { callId: "gone", name: "weather" } }),
  answer({ assistant: { toolCalls: [call] } }),
  result(""),
  answer({ content: "half \ud83d of a pair " }),
  user({ content: "go on" }),
  user({ content: "please" }),
  answer({ content: "yes ", attachments: [{ mime: "image/png", data: PNG }] }),
];
