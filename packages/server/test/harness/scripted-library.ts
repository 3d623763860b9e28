// A model library in which a pull takes as long as the test decides, and which records its calls.
import { EngineError, type LibraryProgress, type NpmModel } from "@ingle/engine";
import type { ModelLibrary } from "../../src/models/library/model-library.ts";
import { orAborted } from "../../src/signals.ts";
import { gate, scriptedKnown, type ScriptedKnown } from "./scripted-models.ts";

const starter: NpmModel = {
  id: "small-chat",
  title: "Small",
  license: "MIT",
  fileName: "small.gguf",
  source: {
    scheme: "npm:",
    parts: [1, 2].map((part) => ({
      name: `small-${part}`,
      version: "1.0.0",
      integrity: "sha512-x",
      tarballBytes: 20,
    })),
  },
};

/** A pulled model is added to `installed`; a removed one is taken out. */
export function scriptedLibrary(installed: ScriptedKnown[] = []) {
  const asked: unknown[] = [];
  const finish = gate();
  const aborted: unknown[] = [];
  let report: (progress: LibraryProgress) => void = () => {};
  const known = (name: string): ScriptedKnown => {
    const found = installed.find(({ id, aliases = [] }) => id === name || aliases.includes(name));
    if (found === undefined) throw new EngineError("model_not_found", "No such model.");
    return found;
  };
  /** Replaces the model by one with other names. */
  const rename = ({ id, aliases = [] }: ScriptedKnown, change: (names: readonly string[]) => string[]) => {
    const named = scriptedKnown(id, { aliases: change(aliases) });
    installed.splice(
      installed.findIndex((each) => each.id === id),
      1,
      named,
    );
    return { id, aliases: named.aliases ?? [] };
  };
  const library: ModelLibrary = {
    pull: async (model, { signal, onProgress }) => {
      asked.push(model);
      if (model === "nobody/nothing") throw new EngineError("model_not_found", "The hub has no such model.");
      signal.addEventListener("abort", () => aborted.push(signal.reason));
      report = (progress) => onProgress(model, progress);
      await orAborted(finish.closed, signal);
      installed.push(scriptedKnown(model));
      return model;
    },
    // scripted-work.ts has versions that take time.
    importPath: async (path) => [path],
    quantize: async (model, { to }) => `${model}-${to}`,
    search: async (words, { limit }) => {
      asked.push([words, limit]);
      return [{ repo: "acme/tiny-GGUF", downloads: 7, likes: 3, isGated: false }];
    },
    describe: async (repo) => {
      asked.push(repo);
      return offered(repo);
    },
    recommended: async () => {
      const located = { kind: "npm" as const, id: starter.id, model: starter };
      return { reason: "starter", starterReason: { why: "memory" }, lost: [], located };
    },
    alias: async (alias, model) => {
      const wanted = known(model);
      const old = installed.find(({ aliases = [] }) => aliases.includes(alias));
      if (old !== undefined) rename(old, (names) => names.filter((name) => name !== alias));
      return rename(known(wanted.id), (names) => [...names, alias]);
    },
    unalias: async (alias) => rename(known(alias), (names) => names.filter((name) => name !== alias)),
    remove: async (model) => {
      asked.push(model);
      installed.length = 0;
      return { what: model, reason: "asked", freedBytes: 42 };
    },
  };
  return { library, asked, aborted, finish, report: (progress: LibraryProgress) => report(progress) };
}

function offered(repo: string): Awaited<ReturnType<ModelLibrary["describe"]>> {
  const model = { id: `${repo}:Q4_0`, quantization: "Q4_0", sizeBytes: 5, hasProjector: false };
  return {
    repo,
    license: null,
    isGated: false,
    facts: {
      architecture: "llama",
      name: "Tiny",
      quantization: "Q4_0",
      contextLength: undefined,
      cacheBytesPerToken: 8,
      isEmbedder: false,
      experts: 0,
      isAdapter: false,
    },
    models: [{ ...model, memoryBytes: 9, fits: true }],
  };
}
