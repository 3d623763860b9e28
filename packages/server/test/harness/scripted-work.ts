// A model library whose jobs advance as the test decides. A job's name is a model, a path, or `model to level`.
import type { ModelLibrary } from "../../src/models/library/model-library.ts";
import { orAborted } from "../../src/signals.ts";
import { scriptedLibrary } from "./scripted-library.ts";

interface ScriptedTask {
  /** Reports progress. */
  report(phase: "waiting" | "verify" | "download" | "convert", bytes: number, totalBytes: number): void;
  finish(): void;
  fail(error: Error): void;
  readonly signal: AbortSignal;
}

interface ScriptedWork {
  library: ModelLibrary;
  /** Names of all jobs in the order of their starts; a restarted one is there twice. */
  readonly begun: string[];
  /** The latest job of this name. */
  task(name: string): ScriptedTask;
}

export function scriptedWork(): ScriptedWork {
  const begun: string[] = [];
  const tasks = new Map<string, ScriptedTask>();
  const work = async (name: string, signal: AbortSignal, report: ScriptedTask["report"]): Promise<void> => {
    begun.push(name);
    const done = new Promise<void>((resolve, reject) => {
      tasks.set(name, { report, finish: resolve, fail: reject, signal });
    });
    await orAborted(done, signal);
  };
  const library: ModelLibrary = {
    ...scriptedLibrary().library,
    pull: async (model, { signal, onProgress }) => {
      const id = `${model}:Q4_0`;
      await work(model, signal, (phase, bytes, totalBytes) => onProgress(id, { phase, bytes, totalBytes }));
      return id;
    },
    importPath: async (path, { signal, onProgress }) => {
      await work(path, signal, (phase, bytes, totalBytes) => onProgress({ phase, bytes, totalBytes }));
      return ["one", "two"];
    },
    quantize: async (model, { to, signal, onProgress }) => {
      await work(`${model} to ${to}`, signal, (_phase, bytes, totalBytes) =>
        onProgress({ bytes, totalBytes, tensor: "blk.0" }),
      );
      return `${model}-${to}`;
    },
  };
  const task = (name: string): ScriptedTask => {
    const found = tasks.get(name);
    if (found === undefined) throw new Error(`No job is called ${name}.`);
    return found;
  };
  return { library, begun, task };
}
