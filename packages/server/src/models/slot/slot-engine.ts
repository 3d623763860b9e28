// The engine of one model while it is loaded, and the statistics of all its engines, summed over unloading and loading again.
import type { EngineCrash, LoadedModel, Model, NativeStats } from "@ingle/engine";

/** Gauges of the current engine, and counters since the server started. */
export type EngineStats = Omit<NativeStats, "cellBytes" | "embeddingMemory">;

const gauges = {
  running: 0,
  waiting: 0,
  cells: 0,
  cellsUsed: 0,
  cellsCached: 0,
  cacheRamBytes: 0,
  cacheRamPieces: 0,
};

/** The statistics that only grow. */
const counters = {
  steps: 0,
  promptTokens: 0,
  generatedTokens: 0,
  imagesEncoded: 0,
  preemptions: 0,
  contextShifts: 0,
  draftedTokens: 0,
  acceptedTokens: 0,
  cacheRamHits: 0,
  scheduleUs: 0,
  cacheUs: 0,
  graphUs: 0,
  launchUs: 0,
  waitUs: 0,
  sampleUs: 0,
  embedUs: 0,
  publishUs: 0,
  deviceUs: 0,
  graphsBuilt: 0,
  outputBytes: 0,
};

const nothing: EngineStats = { ...gauges, ...counters };

function keys<Stats extends object>(stats: Stats): (keyof Stats)[] {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the objects above have no other keys
  return Object.keys(stats) as (keyof Stats)[];
}

/** Adds up the statistics of several models. */
export function addStats(all: readonly EngineStats[]): EngineStats {
  const sum = { ...nothing };
  for (const stats of all) {
    for (const name of keys(nothing)) sum[name] += stats[name];
  }
  return sum;
}

class EngineHistory {
  #past: EngineStats = nothing;

  /** Keeps the counters of an engine that is freed. */
  close(last: EngineStats): void {
    this.#past = this.with(last);
  }

  /** The gauges of the current engine, if there is one, with the counters of all engines. */
  with(present: EngineStats = nothing): EngineStats {
    const stats = { ...present };
    for (const counter of keys(counters)) stats[counter] += this.#past[counter];
    return stats;
  }
}

export class SlotEngine {
  readonly #history = new EngineHistory();
  #loaded: LoadedModel | undefined;
  #crashes = 0;

  /** Undefined while it is not loaded. */
  get model(): Model | undefined {
    return this.#loaded?.model;
  }

  /** Whether the process of the engine has crashed and is being restarted: requests wait. */
  get isRestarting(): boolean {
    return this.model?.process?.isRestarting ?? false;
  }

  /** The memory of its process in RAM; 0 without such a process. */
  get processMemoryBytes(): number {
    return this.model?.process?.memoryBytes ?? 0;
  }

  /** How often its process has crashed. */
  get crashes(): number {
    return this.#crashes;
  }

  /** Gauges of the current engine, and counters over all engines. */
  stats(): EngineStats {
    return this.#history.with(this.model?.stats());
  }

  /** Takes over the model. `onCrash` is called whenever its process has crashed; it restarts by itself. */
  hold(loaded: LoadedModel, onCrash: (crash: EngineCrash) => void): void {
    this.#loaded = loaded;
    const { process } = loaded.model;
    if (process === null) return;
    process.onCrash = (crash) => {
      this.#crashes += 1;
      if (crash.stats !== undefined) this.#history.close(crash.stats);
      onCrash(crash);
    };
  }

  /** Lets go of the model, which the caller disposes of. */
  release(): LoadedModel | undefined {
    const loaded = this.#loaded;
    if (loaded !== undefined) this.#history.close(loaded.model.stats());
    this.#loaded = undefined;
    return loaded;
  }
}
