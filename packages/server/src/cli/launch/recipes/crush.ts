// Crush speaks /v1/chat/completions. It takes the folders of its configuration and of its choices from the environment; the
// conversations are in the project's folder.
import {
  keyVariable,
  replyMax,
  userPath,
  type JsonObject,
  type Setup,
  type StartedProgram,
} from "../recipe.ts";

const folderName = "crush";

export const crush: StartedProgram = {
  kind: "started",
  name: "crush",
  title: "Crush",
  commands: ["crush"],
  install: "npm install -g @charmland/crush",
  source: "0.96.1: https://github.com/charmbracelet/crush (README, docs/config)",
  contextMin: 24_576,
  needsTools: true,
  environment: ({ apiKey, folder }) => ({
    [keyVariable]: apiKey,
    CRUSH_GLOBAL_CONFIG: `${folder}/${folderName}`,
    CRUSH_GLOBAL_DATA: `${folder}/${folderName}-data`,
  }),
  // Values that begin with a dollar are read from the environment, so a key cannot stand there as it is.
  files: (setup) => ({ [`${folderName}/crush.json`]: config(setup, `$${keyVariable}`) }),
  saved: {
    file: (places) =>
      places.platform === "win32"
        ? `${userPath(places, "LOCALAPPDATA", "AppData/Local")}/crush/crush.json`
        : `${userPath(places, "XDG_CONFIG_HOME", ".config")}/crush/crush.json`,
    content: (setup) => config(setup, setup.apiKey),
    entryKey: "id",
  },
};

function config(setup: Omit<Setup, "folder">, apiKey: string): JsonObject {
  const { origin, model, contextLength } = setup;
  const chosen = { provider: "ingle", model };
  return {
    models: { large: chosen, small: chosen },
    providers: {
      ingle: {
        name: "Ingle",
        type: "openai-compat",
        base_url: `${origin}/v1`,
        api_key: apiKey,
        models: [
          { id: model, name: model, context_window: contextLength, default_max_tokens: replyMax(setup) },
        ],
      },
    },
  };
}
