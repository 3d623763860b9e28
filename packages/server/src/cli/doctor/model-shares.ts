// Finds out how models on this machine would be placed in its memory, one line each, without loading them.
import type { InstalledModel, MemoryBudget } from "@ingle/engine";
import type { Engine } from "../context.ts";

/** How a model would be placed with the default settings if nothing else was loaded. */
export interface ModelShare {
  id: string;
  /** The plan in one sentence, or why there is none. */
  summary: string;
  /** Undefined if it cannot be loaded. */
  plan?: {
    contextLength: number;
    /** Tokens of all requests together. */
    cells: number;
    /** Layers by device; `host` is the processor. */
    layersIn: Readonly<Record<string, number>>;
    /** Layers whose experts are on the processor. */
    cpuMoeLayers: number;
    /** Bytes of each memory; `host` is the machine's own. */
    byMemory: Readonly<Record<string, number>>;
  };
}

/** Each model is measured several times, which takes a second if its vocabulary is large. */
const modelsMax = 10;

/** For the named model, or for those on this machine that were used or added last. Throws what finding them throws. */
export async function modelShares(
  model: string | undefined,
  engine: Engine,
  env: NodeJS.ProcessEnv,
): Promise<ModelShare[]> {
  const { buildInfo, listModels, locateModel, memoryBudget } = engine;
  const budget = memoryBudget((await buildInfo()).devices);
  const installed = await listModels({ env });
  if (model !== undefined) {
    const located = await locateModel(model, { env, isOffline: true });
    const file = located.kind === "file" ? located.path : installed.find(({ id }) => id === located.id)?.path;
    if (file !== undefined) return [await measureShare({ id: located.id, path: file }, budget, engine, env)];
    return [{ id: located.id, summary: "It is not on this machine yet: download it first." }];
  }
  const latest = installed.toSorted((a, b) => lastTime(b) - lastTime(a)).slice(0, modelsMax);
  const shares: ModelShare[] = [];
  for (const each of latest) shares.push(await measureShare(each, budget, engine, env));
  return shares;
}

function lastTime({ lastUsedAt, addedAt }: InstalledModel): number {
  return (lastUsedAt ?? addedAt)?.getTime() ?? 0;
}

async function measureShare(
  { id, path }: Pick<InstalledModel, "id" | "path">,
  budget: MemoryBudget,
  { EngineError, fitModel, findInstalledProjector }: Engine,
  env: NodeJS.ProcessEnv,
): Promise<ModelShare> {
  try {
    const mmproj = await findInstalledProjector(path, { env });
    const { options, layersIn, cpuMoeLayers, footprint, summary } = await fitModel(
      path,
      { mmproj },
      { budget },
    );
    const { contextLength, cells } = options;
    const { byMemory } = footprint;
    return { id, summary, plan: { contextLength, cells, layersIn, cpuMoeLayers, byMemory } };
  } catch (error) {
    if (!EngineError.is(error)) throw error;
    return { id, summary: error.message };
  }
}
