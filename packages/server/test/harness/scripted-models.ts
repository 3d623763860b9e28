// Models for the registry that follow a script, load when the test allows it, and count their loads.
import type { LoadedModel, MemoryBytes, MemoryForecast } from "@ingle/engine";
import { scriptedModel } from "./scripted-model.ts";
import type { Script } from "@ingle/fixtures/scripted-addon";
import type { KnownModel } from "../../src/models/catalog/known-model.ts";
import type { LoadSettings } from "../../src/models/slot/load-settings.ts";

export interface ScriptedKnown extends KnownModel {
  forecast?: NonNullable<KnownModel["forecast"]>;
  /** Counts of calls. */
  readonly log: { prepared: number; loads: number; frees: number };
  /** The settings of each request to load it. */
  readonly asked: (LoadSettings | undefined)[];
  /** Every load waits for this promise, and fails if it rejects. */
  gate: Promise<unknown>;
  /** Thrown by prepare(). */
  refusal: Error | undefined;
  /** Reports progress of the current load. */
  report: (fraction: number) => void;
}

/** A model of the given size in bytes. Loads at once, with the requested context, unless its gate is closed. */
export function scriptedKnown(
  id: string,
  options: {
    hostBytes?: number;
    script?: Script;
    aliases?: readonly string[];
    /** Its memory forecast; absent: it has none. */
    forecast?: Partial<MemoryForecast>;
  } = {},
): ScriptedKnown {
  const log = { prepared: 0, loads: 0, frees: 0 };
  const asked: (LoadSettings | undefined)[] = [];
  const { hostBytes = 0, script, aliases = [] } = options;
  const byMemory: MemoryBytes = { host: hostBytes };
  const known: ScriptedKnown = {
    id,
    aliases,
    settings: { kvBitsK: 16, kvBitsV: 16 },
    log,
    asked,
    gate: Promise.resolve(),
    refusal: undefined,
    report: () => {},
    prepare: async (request) => {
      log.prepared += 1;
      asked.push(request.settings);
      if (known.refusal !== undefined) throw known.refusal;
      return { byMemory, load: (onProgress) => load(onProgress, request.settings?.contextLength) };
    },
  };
  const { forecast } = options;
  if (forecast !== undefined) {
    known.forecast = async (request) => {
      asked.push(request.settings);
      const contextLength = request.settings?.contextLength ?? 2048;
      return { ...makeForecast(hostBytes, contextLength), ...forecast };
    };
  }
  const load = async (
    onProgress: (fraction: number) => void,
    contextLength = script?.contextLength ?? 2048,
  ): Promise<LoadedModel> => {
    log.loads += 1;
    known.report = onProgress;
    await known.gate;
    const { model } = await scriptedModel({ parallel: 2, ...script, contextLength });
    const free = async (): Promise<void> => {
      await model[Symbol.asyncDispose]();
      log.frees += 1;
    };
    return { model, tokenizer: model.tokenizer, processor: model.processor, [Symbol.asyncDispose]: free };
  };
  return known;
}

function makeForecast(hostBytes: number, contextLength: number): MemoryForecast {
  const footprint = {
    weightsBytes: hostBytes,
    contextBytes: 0,
    computeBytes: 0,
    byMemory: { host: hostBytes },
  };
  const context = { contextLength, contextLengthMax: 8192, kvBytesPerToken: 64 };
  return { ...context, footprint, isReduced: false, refusal: undefined };
}

/** A promise that is resolved from outside. */
export function gate(): { closed: Promise<void>; open: () => void } {
  let open: () => void = () => {};
  const closed = new Promise<void>((resolve) => (open = resolve));
  return { closed, open };
}
