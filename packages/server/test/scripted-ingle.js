// The `ingle` command as a process, with a scripted model instead of the native engine, for tests that send real signals. It uses the
// build, as the real command does. SCRIPT is a Script of @ingle/fixtures as JSON, and SCRIPT_FILE a file with one that is too
// long for a variable. The part of a reply before its `thoughtsEnd` is reasoning.
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import * as engine from "@ingle/engine";
import { scriptedAddon } from "@ingle/fixtures/scripted-addon";
import { runFromShell } from "../dist/cli/main.js";

const scriptFile = process.env["SCRIPT_FILE"];
const script = scriptFile === undefined ? (process.env["SCRIPT"] ?? "{}") : readFileSync(scriptFile, "utf8");
const { thoughtsEnd, ...scripted } = JSON.parse(script);
const scriptedEngine = scriptedAddon(
  thoughtsEnd === undefined ? scripted : { ...scripted, reply: readThoughts },
);
const model = await engine.Model.start(scriptedEngine.native, scriptedEngine.options);

function readThoughts(text) {
  const end = text.indexOf(thoughtsEnd);
  if (end < 0) return { reasoning: text, content: "", calls: [] };
  return { reasoning: text.slice(0, end), content: text.slice(end + thoughtsEnd.length), calls: [] };
}

const located = async (id) => ({ kind: "npm", id, model: engine.starterModel });

await runFromShell("ingle", {
  engine: async () => ({
    ...engine,
    buildInfo: async () => ({ devices: [] }),
    locateModel: located,
    // Not the one that this machine's user used last.
    defaultModel: async () => ({
      located: await located(engine.starterModel.id),
      reason: "starter",
      lost: [],
      starterReason: { why: "memory" },
    }),
    fetchModel: async () => "starter.gguf",
    recordUse: async () => true,
    listModels: async () => [],
    libraryPaths: () => engine.libraryPaths({ INGLE_HOME: fileURLToPath(import.meta.url) }), // nothing is written there
    fitModel: async (_file, options) => ({ options, isReduced: false, footprint: { byMemory: {} } }),
    load: async () => ({
      model,
      tokenizer: model.tokenizer,
      [Symbol.asyncDispose]: () => model[Symbol.asyncDispose](),
    }),
  }),
});
