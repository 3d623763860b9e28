// From a chosen model to a loaded one: fetches the starter model when it is not there yet, loads it, and shows both
// on stderr. Used by serve, run and chat.
import type { LibraryProgress, LoadedModel } from "@ingle/engine";
import type { ServerConfig } from "../config.ts";
import type { CommandContext } from "./context.ts";
import type { ModelChoice } from "./model-argument.ts";
import { formatBytes, formatDuration } from "./print.ts";
import { startProgress, type Progress } from "./progress.ts";

export interface OpenOptions {
  engine: Partial<ServerConfig["engine"]>;
  /** Called with 0 … 1 while the weights are read, beside what the terminal shows. */
  onProgress?: (fraction: number) => void;
  /** Gives up beside the context's shutdown. */
  signal?: AbortSignal;
}

/** Loads the model. Throws the engine's errors, or the reason of the signal that ended it. */
export async function openModel(
  choice: ModelChoice,
  context: CommandContext,
  options: OpenOptions,
): Promise<LoadedModel> {
  const signals = [context.shutdown.signal, ...(options.signal === undefined ? [] : [options.signal])];
  const signal = AbortSignal.any(signals);
  const file = choice.kind === "file" ? choice.file : await fetchStarterModel(context, signal);
  const { load } = await context.engine();
  using progress = startProgress(`Loading ${choice.id}`, context);
  return await load(file, {
    ...options.engine,
    signal,
    onProgress: (fraction) => {
      progress.update(fraction);
      options.onProgress?.(fraction);
    },
  });
}

/** Path of the starter model's file. Silent when it is there already. */
async function fetchStarterModel(context: CommandContext, signal: AbortSignal): Promise<string> {
  const { buildInfo, ensureStarterModel, starterModel } = await context.engine();
  const { stderr, env, now } = context;
  await buildInfo(); // without the native engine the download would be for nothing: this says so first
  const startedAt = now();
  let isFetching = false;
  const fetchWithBars = async (): Promise<string> => {
    using bars = new PhaseBars(starterModel.id, context);
    const onProgress = (news: LibraryProgress): void => {
      if (!isFetching)
        stderr.write(`Fetching ${starterModel.title} (${starterModel.license}); this happens once.\n`);
      isFetching = true;
      bars.update(news);
    };
    return await ensureStarterModel({ signal, env, onProgress });
  };
  try {
    const file = await fetchWithBars();
    if (isFetching) stderr.write(`Saved ${file} after ${formatDuration(now() - startedAt)}.\n`);
    return file;
  } catch (error) {
    if (isFetching && signal.aborted) {
      stderr.write("What was downloaded so far is kept; the next start goes on from there.\n");
    }
    throw error;
  }
}

const phaseTitles: Record<LibraryProgress["phase"], string> = {
  waiting: "Waiting for another process that downloads",
  verify: "Checking what is there of",
  download: "Downloading",
  unpack: "Unpacking",
};

/** One bar after the other, a phase each. */
class PhaseBars implements Disposable {
  readonly #id: string;
  readonly #context: CommandContext;
  #current: { phase: LibraryProgress["phase"]; bar: Progress } | undefined;

  constructor(id: string, context: CommandContext) {
    this.#id = id;
    this.#context = context;
  }

  update({ phase, bytes, totalBytes }: LibraryProgress): void {
    if (this.#current?.phase !== phase) {
      this[Symbol.dispose]();
      this.#current = { phase, bar: startProgress(`${phaseTitles[phase]} ${this.#id}`, this.#context) };
    }
    const fraction = totalBytes > 0 ? bytes / totalBytes : 0;
    this.#current.bar.update(fraction, `${formatBytes(bytes)} of ${formatBytes(totalBytes)}`);
  }

  [Symbol.dispose](): void {
    this.#current?.bar[Symbol.dispose]();
    this.#current = undefined;
  }
}
