// A library whose long work goes on as a test says, each piece of it by its name: a model, a path, or `model to level`.
import type { ModelLibrary } from "../models/library/model-library.ts";
import { orAborted } from "../or-aborted.ts";
import { scriptedLibrary } from "./scripted-library.ts";

export interface ScriptedTask {
  /** Tells how far it is. */
  report(phase: "waiting" | "verify" | "download" | "convert", bytes: number, totalBytes: number): void;
  finish(): void;
  fail(error: Error): void;
  readonly signal: AbortSignal;
}

export interface ScriptedWork {
  library: ModelLibrary;
  /** Everything that was begun, in order; twice where it was begun again. */
  readonly begun: string[];
  /** The last one of this name. */
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
    if (found === undefined) throw new Error(`Nothing has begun that is called ${name}.`);
    return found;
  };
  return { library, begun, task };
}
