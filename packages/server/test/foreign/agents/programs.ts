// Agents' programs at the versions that are tested, and how to ask each of them one question, and another in the same conversation.
import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";

export interface AgentProgram {
  name: string;
  /** The npm package with its version. */
  package: string;
  bin: string;
  /** Environment, besides HOME and PATH. `url` is the server's, without /v1. */
  env: (url: string, context: number) => Record<string, string>;
  /** Writes settings into the home and the project's folder. */
  configure: (folders: { home: string; project: string; url: string; context: number }) => Promise<void>;
  first: (prompt: string) => string[];
  next: (prompt: string) => string[];
  /** Whether the prompt is sent over the Agent Client Protocol, because the command line cannot continue a conversation. */
  speaksAcp?: boolean;
  /** Whether the server has Ollama's API. */
  needsOllamaApi?: boolean;
}

const model = "tiny";
const clineProvider = "openai-compatible";
const oss = ["--oss", "--local-provider", "ollama", "-m", model];
const noSettings = async (): Promise<void> => {};

async function write(file: string, text: string): Promise<void> {
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(file, text);
}

const codex: AgentProgram = {
  name: "Codex",
  package: "@openai/codex@0.171.0",
  bin: "codex",
  env: () => ({}),
  configure: ({ home, url, context }) =>
    write(
      path.join(home, ".codex/config.toml"),
      `model = "${model}"
model_provider = "ingle"
model_context_window = ${context}
check_for_update_on_startup = false
[analytics]
enabled = false
[model_providers.ingle]
name = "Ingle"
base_url = "${url}/v1"
wire_api = "responses"
`,
    ),
  first: (prompt) => ["exec", "--skip-git-repo-check", "-s", "read-only", prompt],
  next: (prompt) => ["exec", "--skip-git-repo-check", "-s", "read-only", "resume", "--last", prompt],
};

/** It asks Ollama's API for the version and the models, and then `/v1/responses`. */
const codexOss: AgentProgram = {
  name: "Codex --oss",
  package: codex.package,
  bin: codex.bin,
  env: (url) => ({ CODEX_OSS_BASE_URL: `${url}/v1` }),
  configure: ({ home, context }) =>
    write(
      path.join(home, ".codex/config.toml"),
      `model_context_window = ${context}
check_for_update_on_startup = false
[analytics]
enabled = false
`,
    ),
  first: (prompt) => ["exec", ...oss, "--skip-git-repo-check", "-s", "read-only", prompt],
  next: (prompt) => ["exec", ...oss, "--skip-git-repo-check", "-s", "read-only", "resume", "--last", prompt],
  needsOllamaApi: true,
};

const claudeCode: AgentProgram = {
  name: "Claude Code",
  package: "@anthropic-ai/claude-code@2.1.332",
  bin: "claude",
  env: (url, context) => ({
    ANTHROPIC_BASE_URL: url,
    CLAUDE_CODE_MAX_CONTEXT_TOKENS: String(context),
    ANTHROPIC_AUTH_TOKEN: "any text",
    ANTHROPIC_MODEL: model,
    ANTHROPIC_DEFAULT_HAIKU_MODEL: model,
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    DISABLE_TELEMETRY: "1",
    DISABLE_AUTOUPDATER: "1",
  }),
  configure: noSettings,
  first: (prompt) => ["-p", prompt],
  next: (prompt) => ["-p", "--continue", prompt],
};

const openCode: AgentProgram = {
  name: "OpenCode",
  package: "opencode-ai@1.18.33",
  bin: "opencode",
  env: () => ({ OPENCODE_DISABLE_AUTOUPDATE: "1", OPENCODE_DISABLE_MODELS_FETCH: "1" }),
  configure: ({ project, url, context }) =>
    write(
      path.join(project, "opencode.json"),
      JSON.stringify({
        autoupdate: false,
        share: "disabled",
        provider: {
          ingle: {
            npm: "@ai-sdk/openai-compatible",
            options: { baseURL: `${url}/v1`, apiKey: "any text" },
            models: { [model]: { limit: { context, output: 1000 } } },
          },
        },
      }),
    ),
  first: (prompt) => ["run", "-m", `ingle/${model}`, prompt],
  next: (prompt) => ["run", "--continue", "-m", `ingle/${model}`, prompt],
};

const qwenCode: AgentProgram = {
  name: "Qwen Code",
  package: "@qwen-code/qwen-code@0.24.4",
  bin: "qwen",
  env: (url) => ({ OPENAI_API_KEY: "any text", OPENAI_BASE_URL: `${url}/v1`, OPENAI_MODEL: model }),
  configure: ({ home }) =>
    write(
      path.join(home, ".qwen/settings.json"),
      JSON.stringify({
        privacy: { usageStatisticsEnabled: false },
        telemetry: { enabled: false },
        general: { enableAutoUpdate: false },
      }),
    ),
  first: (prompt) => ["--auth-type", "openai", "-p", prompt],
  next: (prompt) => ["--auth-type", "openai", "--continue", "-p", prompt],
};

const cline: AgentProgram = {
  name: "Cline",
  package: "cline@3.0.65",
  bin: "cline",
  env: () => ({ CLINE_API_KEY: "any text", CLINE_PROVIDER: clineProvider, CLINE_MODEL: model }),
  configure: async ({ home, url, context }) => {
    const folder = path.join(home, ".cline/data/settings");
    const baseUrl = `${url}/v1`;
    const settings = { provider: clineProvider, apiKey: "any text", model, baseUrl };
    const saved = { settings, updatedAt: "2026-11-28T00:00:00.000Z", tokenSource: "manual" };
    await write(
      path.join(folder, "providers.json"),
      JSON.stringify({
        version: 1,
        lastUsedProvider: clineProvider,
        modes: {},
        providers: { [clineProvider]: saved },
      }),
    );
    const provider = { name: "Ingle", baseUrl, defaultModelId: model };
    const models = { [model]: { id: model, name: model, contextWindow: context } };
    await write(
      path.join(folder, "models.json"),
      JSON.stringify({ version: 1, providers: { [clineProvider]: { provider, models } } }),
    );
  },
  first: () => ["--acp"],
  next: () => ["--acp"],
  speaksAcp: true,
};

const continueCli: AgentProgram = {
  name: "Continue",
  package: "@continuedev/cli@1.5.47",
  bin: "cn",
  env: () => ({ CONTINUE_TELEMETRY_ENABLED: "0" }),
  configure: ({ project, url }) =>
    write(
      path.join(project, "ingle.yaml"),
      `name: Ingle
version: 0.0.1
schema: v1
models:
  - { name: ${model}, provider: openai, model: ${model}, apiBase: "${url}/v1", apiKey: any text, roles: [chat] }
`,
    ),
  first: (prompt) => ["-p", prompt, "--config", "ingle.yaml"],
  next: (prompt) => ["-p", "--resume", prompt, "--config", "ingle.yaml"],
};

export const agentPrograms: readonly AgentProgram[] = [
  codex,
  codexOss,
  claudeCode,
  openCode,
  qwenCode,
  cline,
  continueCli,
];
