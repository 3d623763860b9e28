// Qwen Code speaks /v1/chat/completions. Its environment names the server; only a settings file has the length of the context.
import { keyVariable, userPath, type StartedProgram } from "../recipe.ts";

const defaultsFile = "qwen-defaults.json";

export const qwen: StartedProgram = {
  kind: "started",
  name: "qwen",
  title: "Qwen Code",
  commands: ["qwen"],
  install: "npm install -g @qwen-code/qwen-code",
  source: "0.24.4: qwen --help, and https://qwenlm.github.io/qwen-code-docs/en/users/configuration/settings",
  // Its instructions and tools take 13,000 tokens.
  contextMin: 32_768,
  needsTools: true,
  environment: ({ origin, apiKey, model, folder }) => ({
    OPENAI_BASE_URL: `${origin}/v1`,
    OPENAI_API_KEY: apiKey,
    OPENAI_MODEL: model,
    // These defaults rank below the user's settings, which stay in use.
    QWEN_CODE_SYSTEM_DEFAULTS_PATH: `${folder}/${defaultsFile}`,
  }),
  files: ({ contextLength }) => ({
    [defaultsFile]: { model: { generationConfig: { contextWindowSize: contextLength } } },
  }),
  args: ({ model }) => ["--auth-type", "openai", "--model", model],
  saved: {
    file: (places) => `${userPath(places, "QWEN_HOME", ".qwen")}/settings.json`,
    content: ({ origin, apiKey, model, contextLength }) => ({
      env: { [keyVariable]: apiKey },
      modelProviders: {
        openai: [
          {
            id: model,
            name: `${model} (Ingle)`,
            baseUrl: `${origin}/v1`,
            envKey: keyVariable,
            generationConfig: { contextWindowSize: contextLength },
          },
        ],
      },
      security: { auth: { selectedType: "openai" } },
      model: { name: model },
    }),
    entryKey: "id",
  },
};
