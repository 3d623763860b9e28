// Requests of the shapes that coding agents send to a server of the user's choice: the first request with tools of every type that
// the agent declares, and the next one with the calls, results and thoughts of the first. The texts are ours; the fields are those
// of public documentation and reports.

const parameters = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  type: "object",
  properties: { command: { type: "string", description: "What to run" }, timeout: { type: "number" } },
  required: ["command"],
  additionalProperties: false,
};
export const args = '{"command":"ls"}';
const cached = { cache_control: { type: "ephemeral", ttl: "1h" } };

const anthropicTools = [
  {
    name: "Bash",
    description: "Runs a command.",
    input_schema: parameters,
    eager_input_streaming: true,
    ...cached,
  },
  {
    name: "mcp__files__read",
    description: "",
    input_schema: { type: "object", properties: {} },
    defer_loading: true,
  },
  { type: "tool_search_tool_regex_20251119", name: "tool_search_tool_regex" },
  { type: "web_search_20250305", name: "web_search", max_uses: 8, blocked_domains: [] },
  { type: "advisor_20260301", name: "advisor", model: "other" },
];
const claudeCode = {
  max_tokens: 32_000,
  stream: true,
  system: [
    { type: "text", text: "x-anthropic-billing-header: cc_version=2.1.0; cch=1;" },
    { type: "text", text: "You are an agent.", ...cached },
  ],
  tools: anthropicTools,
  thinking: { type: "adaptive", display: "omitted" },
  output_config: { effort: "high" },
  context_management: { edits: [{ type: "clear_thinking_20251015", keep: "all" }] },
  metadata: { user_id: JSON.stringify({ device_id: "d".repeat(64), account_uuid: "", session_id: "s" }) },
  diagnostics: { previous_message_id: null },
};
const claudeTurn = [
  {
    role: "user",
    content: [
      { type: "text", text: "<system-reminder>Today is Monday.</system-reminder>" },
      { type: "text", text: "List the files.", ...cached },
    ],
  },
  { role: "system", content: "These agents are available: explorer." },
];

const codexTools = [
  { type: "function", name: "exec_command", description: "Runs.", strict: false, parameters },
  {
    type: "custom",
    name: "apply_patch",
    description: "Edits.",
    format: { type: "grammar", syntax: "lark", definition: "start: /.+/s" },
  },
  { type: "local_shell" },
  { type: "web_search", external_web_access: true, search_content_types: ["text", "image"] },
  { type: "image_generation", output_format: "png" },
  {
    type: "namespace",
    name: "mcp__files",
    description: "Files",
    tools: [{ type: "function", name: "read" }],
  },
  {
    type: "tool_search",
    execution: "client",
    description: "Finds tools.",
    parameters: { type: "object", properties: {} },
  },
  { type: "mcp", server_label: "files", server_url: "https://files.example" },
];
const codex = {
  instructions: "You are a coding agent.",
  tools: codexTools,
  tool_choice: "auto",
  parallel_tool_calls: true,
  reasoning: { effort: "medium", summary: "auto", context: "all_turns" },
  store: false,
  stream: true,
  include: ["reasoning.encrypted_content"],
  service_tier: "priority",
  prompt_cache_key: "0199",
  text: { verbosity: "low" },
  client_metadata: { "x-codex-installation-id": "1" },
};
const codexTurn = [
  { type: "message", role: "developer", content: [{ type: "input_text", text: "Sandbox: read-only." }] },
  { type: "message", role: "user", content: [{ type: "input_text", text: "List the files." }] },
];

const chatTools = [
  { type: "function", function: { name: "bash", description: "Runs a command.", parameters, strict: false } },
  { type: "function", function: { name: "read", parameters: { type: "object", properties: {} } } },
];
const chatStream = { stream: true, stream_options: { include_usage: true } };
const call = { id: "call_1", type: "function", index: 0, function: { name: "bash", arguments: args } };
const chatTurn = [
  { role: "system", content: "You are a coding agent." },
  { role: "user", content: [{ type: "text", text: "List the files.", ...cached }] },
];

export interface CodingAgent {
  path: string;
  headers?: Record<string, string>;
  first: object;
  second: object;
  /** The names of the tools that the model sees. */
  tools: string[];
  /** The header `x-ingle-ignored` of the first reply, and of the second if it has more. */
  ignored?: string;
  ignoredLater?: string;
}

const ignoredOfClaudeCode =
  "diagnostics, context_management, system (x-anthropic-billing-header), tools (tool_search_tool_regex_20251119), tools (web_search_20250305), tools (advisor_20260301)";
const ignoredOfCodex =
  "client_metadata, service_tier, tools (local_shell), tools (web_search), tools (image_generation), tools (tool_search), tools (mcp), text.verbosity, reasoning.context, include (reasoning.encrypted_content)";

export const codingAgents: Record<string, CodingAgent> = {
  "Claude Code": {
    path: "/v1/messages?beta=true",
    tools: ["Bash", "mcp__files__read"],
    ignored: ignoredOfClaudeCode,
    ignoredLater: `${ignoredOfClaudeCode}, messages (server_tool_use), messages (web_search_tool_result)`,
    headers: {
      "anthropic-version": "2023-06-01",
      "anthropic-beta": "claude-code-20250219,effort-2025-11-24",
    },
    first: { ...claudeCode, messages: claudeTurn },
    second: {
      ...claudeCode,
      messages: [
        ...claudeTurn,
        {
          role: "assistant",
          content: [
            { type: "thinking", thinking: "I list them.", signature: "" },
            { type: "redacted_thinking", data: "x" },
            { type: "text", text: "I look." },
            { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: { query: "ls" } },
            { type: "web_search_tool_result", tool_use_id: "srvtoolu_1", content: [] },
            {
              type: "tool_use",
              id: "toolu_1",
              name: "Bash",
              input: { command: "ls" },
              caller: { type: "direct" },
            },
          ],
        },
        {
          role: "user",
          content: [
            {
              type: "tool_result",
              tool_use_id: "toolu_1",
              is_error: false,
              content: [{ type: "text", text: "a.txt" }],
              ...cached,
            },
          ],
        },
      ],
    },
  },
  Codex: {
    path: "/v1/responses",
    tools: ["exec_command", "apply_patch", "mcp__files__read"],
    ignored: ignoredOfCodex,
    ignoredLater: `${ignoredOfCodex}, input (web_search_call), input (local_shell_call), input (local_shell_call_output)`,
    headers: { originator: "codex_cli_rs", session_id: "0199" },
    first: { ...codex, input: codexTurn },
    second: {
      ...codex,
      input: [
        ...codexTurn,
        { type: "reasoning", id: "rs_1", summary: [], content: null, encrypted_content: "x" },
        {
          type: "message",
          id: "msg_1",
          role: "assistant",
          phase: "commentary",
          content: [{ type: "output_text", text: "I look.", annotations: [] }],
        },
        {
          type: "function_call",
          id: "fc_1",
          call_id: "call_1",
          name: "exec_command",
          namespace: null,
          arguments: args,
        },
        { type: "function_call_output", call_id: "call_1", output: [{ type: "input_text", text: "a.txt" }] },
        { type: "custom_tool_call", call_id: "call_2", name: "apply_patch", input: "*** Begin Patch" },
        { type: "custom_tool_call_output", call_id: "call_2", output: "Done." },
        { type: "function_call", call_id: "call_4", name: "read", namespace: "mcp__files", arguments: "{}" },
        { type: "function_call_output", call_id: "call_4", output: "b.txt" },
        { type: "web_search_call", id: "ws_1", status: "completed", action: { type: "search", query: "ls" } },
        {
          type: "local_shell_call",
          call_id: "call_3",
          status: "completed",
          action: { type: "exec", command: ["ls"] },
        },
        { type: "local_shell_call_output", call_id: "call_3", output: "a.txt" },
      ],
    },
  },
  Cline: {
    path: "/v1/chat/completions",
    tools: ["bash", "read"],
    first: {
      ...chatStream,
      temperature: 0,
      messages: chatTurn,
      tools: chatTools,
      tool_choice: "auto",
      parallel_tool_calls: false,
      reasoning_effort: "low",
    },
    second: {
      ...chatStream,
      temperature: 0,
      tools: chatTools,
      messages: [
        ...chatTurn,
        {
          role: "assistant",
          content: "I look.",
          tool_calls: [call],
          reasoning_details: [{ type: "reasoning.text", text: "Hm." }],
        },
        { role: "tool", tool_call_id: "call_1", content: [{ type: "text", text: "a.txt" }] },
      ],
    },
  },
  Continue: {
    path: "/v1/chat/completions",
    tools: ["bash", "read"],
    first: {
      stream: true,
      messages: chatTurn,
      max_tokens: 4096,
      stop: ["<|eot|>"],
      tools: chatTools,
      parallel_tool_calls: false,
      prediction: undefined,
    },
    second: {
      stream: true,
      max_tokens: 4096,
      tools: chatTools,
      messages: [
        ...chatTurn,
        { role: "assistant", content: " ", tool_calls: [call] },
        { role: "tool", tool_call_id: "call_1", content: "a.txt" },
      ],
    },
  },
  OpenCode: {
    path: "/v1/chat/completions",
    tools: ["bash", "read"],
    ignored: "promptCacheKey, setCacheKey",
    first: {
      ...chatStream,
      max_tokens: 32_000,
      top_p: 1,
      messages: chatTurn,
      tools: chatTools,
      tool_choice: "auto",
      reasoning_effort: "medium",
      promptCacheKey: "ses_1",
      setCacheKey: true,
    },
    second: {
      ...chatStream,
      promptCacheKey: "ses_1",
      setCacheKey: true,
      max_tokens: 32_000,
      tools: chatTools,
      tool_choice: "auto",
      messages: [
        ...chatTurn,
        { role: "assistant", content: null, reasoning_content: "I list them.", tool_calls: [call] },
        { role: "tool", tool_call_id: "call_1", content: "a.txt" },
      ],
    },
  },
  Zed: {
    path: "/v1/chat/completions",
    tools: ["bash", "read"],
    first: {
      ...chatStream,
      messages: chatTurn,
      temperature: 1,
      stop: [],
      tools: chatTools,
      tool_choice: "auto",
      parallel_tool_calls: true,
      prompt_cache_key: "thread",
      max_completion_tokens: 8192,
      reasoning_effort: null,
    },
    second: {
      ...chatStream,
      tools: chatTools,
      stop: [],
      messages: [
        ...chatTurn,
        { role: "assistant", content: [{ type: "text", text: "I look." }], tool_calls: [call] },
        { role: "tool", tool_call_id: "call_1", content: [{ type: "text", text: "a.txt" }] },
      ],
    },
  },
};
