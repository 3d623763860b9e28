// Droid speaks /v1/chat/completions to models of the user's own. A file of settings is merged with the user's for one run.
import { keyVariable, replyMax, type JsonObject, type Setup, type StartedProgram } from "../recipe.ts";

const file = "droid-settings.json";
const displayName = "Ingle";

export const droid: StartedProgram = {
  kind: "started",
  name: "droid",
  title: "Droid",
  commands: ["droid"],
  install: "npm install -g droid",
  source: "0.215.0: droid --help, and https://docs.factory.ai/model-independence/byok",
  // Its instructions and tools take 8,000 tokens.
  contextMin: 24_576,
  needsTools: true,
  environment: ({ apiKey }) => ({ [keyVariable]: apiKey }),
  files: (setup) => ({ [file]: settings(setup, `\${${keyVariable}}`) }),
  args: ({ folder }) => ["--settings", `${folder}/${file}`],
  saved: {
    file: ({ home }) => `${home}/.factory/settings.json`,
    content: (setup) => settings(setup, setup.apiKey),
    entryKey: "displayName",
  },
};

function settings(setup: Omit<Setup, "folder">, apiKey: string): JsonObject {
  const id = `custom:${displayName}-0`;
  const custom = {
    id,
    model: setup.model,
    displayName,
    baseUrl: `${setup.origin}/v1`,
    apiKey,
    provider: "generic-chat-completion-api",
    maxOutputTokens: replyMax(setup),
  };
  return { customModels: [custom], sessionDefaultSettings: { model: id } };
}
