// From a located model to a loaded one: fetches it when it is not there yet, loads it, and shows both on stderr. Used by
// serve, run and chat.
import type { LoadedModel, LocatedModel } from "@ingle/engine";
import type { ServerConfig } from "../config.ts";
import type { CommandContext } from "./context.ts";
import { fetchWithBars } from "./fetch-with-bars.ts";
import { startProgress } from "./progress.ts";

export interface OpenOptions {
  engine: Partial<ServerConfig["engine"]>;
  /** Fetches nothing. */
  offline?: boolean;
  /** Called with 0 … 1 while the weights are read, beside what the terminal shows. */
  onProgress?: (fraction: number) => void;
  /** Gives up beside the context's shutdown. */
  signal?: AbortSignal;
}

/** Loads the model. Throws the engine's errors, or the reason of the signal that ended it. */
export async function openModel(
  located: LocatedModel,
  context: CommandContext,
  options: OpenOptions,
): Promise<LoadedModel> {
  const { buildInfo, load, noteUse } = await context.engine();
  const signals = [context.shutdown.signal, ...(options.signal === undefined ? [] : [options.signal])];
  const signal = AbortSignal.any(signals);
  // Without the native engine a download would be for nothing: this says so first.
  if (located.kind !== "here") await buildInfo();
  const file = await fetchWithBars(located, context, { offline: options.offline ?? false, signal });
  using progress = startProgress(`Loading ${located.id}`, context);
  const loaded = await load(file, {
    ...options.engine,
    signal,
    onProgress: (fraction) => {
      progress.update(fraction);
      options.onProgress?.(fraction);
    },
  });
  if (located.kind !== "here" || located.isListed) await noteUse(located.id, { env: context.env });
  return loaded;
}
