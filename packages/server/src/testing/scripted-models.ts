// Models for the registry that say what a script tells them, load when a test lets them, and count how often.
import type { LoadedModel, MemoryBytes, MemoryForecast } from "@ingle/engine";
import { scriptedModel, type Script } from "@ingle/engine/testing";
import type { KnownModel } from "../models/catalog/known-model.ts";
import type { LoadSettings } from "../models/slot/load-settings.ts";

export interface ScriptedKnown extends KnownModel {
  forecast?: NonNullable<KnownModel["forecast"]>;
  /** What has happened to it so far. */
  readonly log: { prepared: number; loads: number; frees: number };
  /** What an order had said of each load. */
  readonly asked: (LoadSettings | undefined)[];
  /** Waited for by every load; a rejection is what the load fails with. */
  gate: Promise<unknown>;
  /** Thrown by prepare(). */
  refusal: Error | undefined;
  /** Called with each report of progress that a load makes. */
  report: (fraction: number) => void;
}

/** A model of so many bytes. Loads at once, with the context that an order says, unless its gate is closed. */
export function scriptedKnown(
  id: string,
  options: {
    hostBytes?: number;
    script?: Script;
    aliases?: readonly string[];
    /** What it would take beside its bytes; absent: nobody can tell. */
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
    prepare: async (order) => {
      log.prepared += 1;
      asked.push(order.settings);
      if (known.refusal !== undefined) throw known.refusal;
      return { byMemory, load: (onProgress) => load(onProgress, order.settings?.contextLength) };
    },
  };
  const { forecast } = options;
  if (forecast !== undefined) {
    known.forecast = async (order) => {
      asked.push(order.settings);
      const contextLength = order.settings?.contextLength ?? 2048;
      return { ...forecastOf(hostBytes, contextLength), ...forecast };
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

function forecastOf(hostBytes: number, contextLength: number): MemoryForecast {
  const footprint = {
    weightsBytes: hostBytes,
    contextBytes: 0,
    computeBytes: 0,
    byMemory: { host: hostBytes },
  };
  const context = { contextLength, contextLengthMax: 8192, kvBytesPerToken: 64 };
  return { ...context, footprint, isReduced: false, refusal: undefined };
}

/** A promise whose end is outside. */
export function gate(): { closed: Promise<void>; open: () => void } {
  let open: () => void = () => {};
  const closed = new Promise<void>((resolve) => (open = resolve));
  return { closed, open };
}
