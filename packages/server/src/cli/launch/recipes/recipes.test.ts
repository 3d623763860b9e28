// What each recipe gives its program, for one setup.
import { describe, expect, it } from "vitest";
import { launchNames, type LaunchName } from "../names.ts";
import type { Setup, StartedProgram, UserPlaces } from "../recipe.ts";
import { recipes } from "./all-recipes.ts";

const setup: Setup = {
  origin: "http://127.0.0.1:1337",
  apiKey: "$a-key",
  model: "acme/tiny:Q4",
  contextLength: 40_000,
  folder: "/tmp/f",
};
const places: UserPlaces = { home: "/home/me", env: {}, platform: "linux" };
const url = "http://127.0.0.1:1337/v1";
const model = "acme/tiny:Q4";
const reply = 8_192;

/** What the program gets, without what is empty. */
function given(recipe: StartedProgram): object {
  const { environment, args, files, saved, argsDefault } = recipe;
  return {
    ...(environment === undefined ? {} : { env: environment(setup, places) }),
    ...(args === undefined ? {} : { args: args(setup) }),
    ...(argsDefault === undefined ? {} : { argsDefault }),
    ...(files === undefined ? {} : { files: files(setup) }),
    ...(saved === undefined
      ? {}
      : { saved: { file: saved.file(places), content: saved.content(setup), entryKey: saved.entryKey } }),
  };
}

const claudeEnv = {
  ANTHROPIC_BASE_URL: "http://127.0.0.1:1337",
  ANTHROPIC_AUTH_TOKEN: "$a-key",
  ANTHROPIC_MODEL: model,
  ANTHROPIC_DEFAULT_HAIKU_MODEL: model,
  ANTHROPIC_DEFAULT_SONNET_MODEL: model,
  ANTHROPIC_DEFAULT_OPUS_MODEL: model,
  CLAUDE_CODE_SUBAGENT_MODEL: model,
  CLAUDE_CODE_MAX_CONTEXT_TOKENS: "40000",
};
const opencodeConfig = {
  model: "ingle/acme/tiny:Q4",
  small_model: "ingle/acme/tiny:Q4",
  provider: {
    ingle: {
      npm: "@ai-sdk/openai-compatible",
      name: "Ingle",
      options: { baseURL: url, apiKey: "$a-key" },
      models: { [model]: { name: model, limit: { context: 40_000, output: reply } } },
    },
  },
};
const crushConfig = (key: string) => ({
  models: { large: { provider: "ingle", model }, small: { provider: "ingle", model } },
  providers: {
    ingle: {
      name: "Ingle",
      type: "openai-compat",
      base_url: url,
      api_key: key,
      models: [{ id: model, name: model, context_window: 40_000, default_max_tokens: reply }],
    },
  },
});
const droidSettings = (key: string) => ({
  customModels: [
    {
      id: "custom:Ingle-0",
      model,
      displayName: "Ingle",
      baseUrl: url,
      apiKey: key,
      provider: "generic-chat-completion-api",
      maxOutputTokens: reply,
    },
  ],
  sessionDefaultSettings: { model: "custom:Ingle-0" },
});
const piModels = (key: string) => ({
  providers: {
    ingle: {
      baseUrl: url,
      api: "openai-completions",
      apiKey: key,
      models: [{ id: model, contextWindow: 40_000, maxTokens: reply }],
    },
  },
});

const expected: Partial<Record<LaunchName, object>> = {
  claude: {
    env: claudeEnv,
    saved: { file: "/home/me/.claude/settings.json", content: { env: claudeEnv }, entryKey: undefined },
  },
  codex: {
    env: { INGLE_API_KEY: "$a-key" },
    args: [
      'model_provider="ingle"',
      'model="acme/tiny:Q4"',
      "model_context_window=40000",
      'model_providers.ingle.name="Ingle"',
      'model_providers.ingle.base_url="http://127.0.0.1:1337/v1"',
      'model_providers.ingle.wire_api="responses"',
      'model_providers.ingle.env_key="INGLE_API_KEY"',
    ].flatMap((assignment) => ["-c", assignment]),
  },
  opencode: {
    env: { OPENCODE_CONFIG_CONTENT: JSON.stringify(opencodeConfig) },
    saved: {
      file: "/home/me/.config/opencode/opencode.json",
      content: opencodeConfig,
      entryKey: undefined,
    },
  },
  qwen: {
    env: {
      OPENAI_BASE_URL: url,
      OPENAI_API_KEY: "$a-key",
      OPENAI_MODEL: model,
      QWEN_CODE_SYSTEM_DEFAULTS_PATH: "/tmp/f/qwen-defaults.json",
    },
    args: ["--auth-type", "openai", "--model", model],
    files: { "qwen-defaults.json": { model: { generationConfig: { contextWindowSize: 40_000 } } } },
    saved: {
      file: "/home/me/.qwen/settings.json",
      content: {
        env: { INGLE_API_KEY: "$a-key" },
        modelProviders: {
          openai: [
            {
              id: model,
              name: "acme/tiny:Q4 (Ingle)",
              baseUrl: url,
              envKey: "INGLE_API_KEY",
              generationConfig: { contextWindowSize: 40_000 },
            },
          ],
        },
        security: { auth: { selectedType: "openai" } },
        model: { name: model },
      },
      entryKey: "id",
    },
  },
  cline: {
    env: {
      CLINE_PROVIDER_SETTINGS_PATH: "/tmp/f/cline/providers.json",
      CLINE_PROVIDER: "openai-compatible",
      CLINE_MODEL: model,
      CLINE_API_KEY: "$a-key",
    },
    files: {
      "cline/providers.json": {
        version: 1,
        lastUsedProvider: "openai-compatible",
        modes: {},
        providers: {
          "openai-compatible": {
            settings: { provider: "openai-compatible", apiKey: "$a-key", model, baseUrl: url },
            updatedAt: expect.any(String),
            tokenSource: "manual",
          },
        },
      },
      "cline/models.json": {
        version: 1,
        providers: {
          "openai-compatible": {
            provider: { name: "Ingle", baseUrl: url, defaultModelId: model },
            models: { [model]: { id: model, name: model, contextWindow: 40_000 } },
          },
        },
      },
    },
  },
  continue: {
    args: ["--config", "/tmp/f/continue.yaml"],
    files: {
      "continue.yaml": {
        name: "Ingle",
        version: "0.0.1",
        schema: "v1",
        models: [
          {
            name: model,
            provider: "openai",
            model,
            apiBase: url,
            apiKey: "$a-key",
            roles: ["chat", "edit", "apply"],
            capabilities: ["tool_use"],
            defaultCompletionOptions: { contextLength: 40_000, maxTokens: reply },
          },
        ],
      },
    },
  },
  crush: {
    env: {
      INGLE_API_KEY: "$a-key",
      CRUSH_GLOBAL_CONFIG: "/tmp/f/crush",
      CRUSH_GLOBAL_DATA: "/tmp/f/crush-data",
    },
    files: { "crush/crush.json": crushConfig("$INGLE_API_KEY") },
    saved: {
      file: "/home/me/.config/crush/crush.json",
      content: crushConfig("$a-key"),
      entryKey: "id",
    },
  },
  copilot: {
    env: {
      COPILOT_PROVIDER_TYPE: "openai",
      COPILOT_PROVIDER_WIRE_API: "completions",
      COPILOT_PROVIDER_BASE_URL: url,
      COPILOT_PROVIDER_API_KEY: "$a-key",
      COPILOT_MODEL: model,
      COPILOT_PROVIDER_MAX_PROMPT_TOKENS: "31808",
      COPILOT_PROVIDER_MAX_OUTPUT_TOKENS: "8192",
    },
  },
  droid: {
    env: { INGLE_API_KEY: "$a-key" },
    args: ["--settings", "/tmp/f/droid-settings.json"],
    files: { "droid-settings.json": droidSettings("${INGLE_API_KEY}") },
    saved: {
      file: "/home/me/.factory/settings.json",
      content: droidSettings("$a-key"),
      entryKey: "displayName",
    },
  },
  goose: {
    env: {
      GOOSE_PROVIDER: "openai",
      GOOSE_MODEL: model,
      GOOSE_CONTEXT_LIMIT: "40000",
      OPENAI_HOST: "http://127.0.0.1:1337",
      OPENAI_BASE_PATH: "v1/chat/completions",
      OPENAI_API_KEY: "$a-key",
    },
    argsDefault: ["session"],
  },
  pi: {
    env: {
      INGLE_API_KEY: "$a-key",
      PI_CODING_AGENT_DIR: "/tmp/f/pi",
      PI_CODING_AGENT_SESSION_DIR: "/home/me/.pi/agent/sessions",
    },
    args: ["--provider", "ingle", "--model", model],
    files: { "pi/models.json": piModels("$INGLE_API_KEY") },
    saved: { file: "/home/me/.pi/agent/models.json", content: piModels("$a-key"), entryKey: "id" },
  },
  aider: {
    env: { OPENAI_API_BASE: url, OPENAI_API_KEY: "$a-key" },
    args: [
      "--model",
      "openai/acme/tiny:Q4",
      "--weak-model",
      "openai/acme/tiny:Q4",
      "--model-metadata-file",
      "/tmp/f/aider-models.json",
      "--no-show-model-warnings",
    ],
    files: {
      "aider-models.json": {
        "openai/acme/tiny:Q4": {
          max_input_tokens: 40_000,
          max_output_tokens: reply,
          max_tokens: reply,
          input_cost_per_token: 0,
          output_cost_per_token: 0,
          litellm_provider: "openai",
          mode: "chat",
        },
      },
    },
  },
  "open-webui": {
    env: {
      OPENAI_API_BASE_URL: url,
      OPENAI_API_KEY: "$a-key",
      ENABLE_OLLAMA_API: "False",
      ENABLE_PERSISTENT_CONFIG: "False",
    },
    argsDefault: ["serve", "--port", "3000"],
  },
};

const started = Object.values(recipes).filter((recipe) => recipe.kind === "started");

describe("a recipe", () => {
  it.each(started)("of $name gives the program this and nothing else", (recipe) => {
    expect(given(recipe)).toEqual(expected[recipe.name]);
  });

  it("has its own name, and a command that no other one has", () => {
    expect(Object.values(recipes).map(({ name }) => name)).toEqual(launchNames);
    const commands = Object.values(recipes).flatMap((recipe) => recipe.commands);
    expect(new Set(commands).size).toBe(commands.length);
  });

  it.each(started)("of $name does not unset what it sets", ({ environment, unset = [] }) => {
    const set = Object.keys(environment?.(setup, places) ?? {});
    expect(unset.filter((variable) => set.includes(variable))).toEqual([]);
  });

  it.each([
    ["claude", { CLAUDE_CONFIG_DIR: "/c" }, "linux", "/c/settings.json"],
    ["opencode", { XDG_CONFIG_HOME: "/c" }, "darwin", "/c/opencode/opencode.json"],
    ["crush", { LOCALAPPDATA: "C:/l" }, "win32", "C:/l/crush/crush.json"],
    ["pi", { PI_CODING_AGENT_DIR: "/c" }, "linux", "/c/models.json"],
    ["qwen", { QWEN_HOME: "" }, "linux", "/home/me/.qwen/settings.json"],
  ] as const)("of %s saves where %j on %s says", (name, env, platform, file) => {
    const recipe = recipes[name];
    expect(recipe.kind === "started" ? recipe.saved?.file({ home: "/home/me", env, platform }) : "").toBe(
      file,
    );
  });

  it.each(Object.values(recipes).filter((recipe) => recipe.kind === "by-hand"))(
    "of $name has steps that name the server and the model",
    ({ steps }) => {
      const text = steps(setup).join("\n");
      expect(text).toContain(url);
      expect(text).toContain(setup.apiKey);
      expect(text).toContain(model);
    },
  );
});
