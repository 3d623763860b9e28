// pi speaks /v1/chat/completions. Its folder in a variable has the models; the conversations stay where the user has them.
import {
  keyVariable,
  replyMax,
  userPath,
  type JsonObject,
  type Setup,
  type StartedProgram,
} from "../recipe.ts";

const folderName = "pi";
const usualFolder = ".pi/agent";

export const pi: StartedProgram = {
  kind: "started",
  name: "pi",
  title: "pi",
  commands: ["pi"],
  install: "npm install -g @earendil-works/pi-coding-agent",
  source: "1.6.0: docs/environment-variables.md and docs/models.md of its package",
  // Its instructions and tools take 1,400 tokens.
  contextMin: 8_192,
  needsTools: true,
  environment: ({ apiKey, folder }, places) => ({
    [keyVariable]: apiKey,
    PI_CODING_AGENT_DIR: `${folder}/${folderName}`,
    PI_CODING_AGENT_SESSION_DIR: userPath(places, "PI_CODING_AGENT_SESSION_DIR", `${usualFolder}/sessions`),
  }),
  // Values that begin with a dollar or an exclamation mark are not taken as they are.
  files: (setup) => ({ [`${folderName}/models.json`]: models(setup, `$${keyVariable}`) }),
  args: ({ model }) => ["--provider", "ingle", "--model", model],
  saved: {
    file: (places) => `${userPath(places, "PI_CODING_AGENT_DIR", usualFolder)}/models.json`,
    content: (setup) => models(setup, setup.apiKey),
    entryKey: "id",
  },
};

function models(setup: Omit<Setup, "folder">, apiKey: string): JsonObject {
  const { origin, model, contextLength } = setup;
  return {
    providers: {
      ingle: {
        baseUrl: `${origin}/v1`,
        api: "openai-completions",
        apiKey,
        models: [{ id: model, contextWindow: contextLength, maxTokens: replyMax(setup) }],
      },
    },
  };
}
