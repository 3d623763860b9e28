// Cline speaks /v1/chat/completions. A file of its own has the providers; the file beside it describes their models.
import type { StartedProgram } from "../recipe.ts";

const provider = "openai-compatible";

export const cline: StartedProgram = {
  kind: "started",
  name: "cline",
  title: "Cline",
  commands: ["cline"],
  install: "npm install -g cline",
  source: "3.0.65: cline --help, and https://docs.cline.bot/cline-cli/configuration",
  // Its instructions and tools take 3,000 tokens.
  contextMin: 16_384,
  needsTools: true,
  environment: ({ apiKey, model, folder }) => ({
    CLINE_PROVIDER_SETTINGS_PATH: `${folder}/cline/providers.json`,
    CLINE_PROVIDER: provider,
    CLINE_MODEL: model,
    CLINE_API_KEY: apiKey,
  }),
  files: ({ origin, apiKey, model, contextLength }) => {
    const baseUrl = `${origin}/v1`;
    return {
      "cline/providers.json": {
        version: 1,
        lastUsedProvider: provider,
        modes: {},
        providers: {
          [provider]: {
            settings: { provider, apiKey, model, baseUrl },
            updatedAt: "2026-11-29T00:00:00.000Z",
            tokenSource: "manual",
          },
        },
      },
      "cline/models.json": {
        version: 1,
        providers: {
          [provider]: {
            provider: { name: "Ingle", baseUrl, defaultModelId: model },
            models: { [model]: { id: model, name: model, contextWindow: contextLength } },
          },
        },
      },
    };
  },
};
