// load(): loads a model file into a Model and its Tokenizer, with progress, abort, and defaults that fit this machine.
import {
  awaitOrAbort,
  fromNative,
  loadNative,
  type NativeEngineOptions,
  type NativeLoadOptions,
  type NativeModel,
} from "./native/addon.ts";
import { nativeAdapters } from "./library/adapters/adapter-file.ts";
import { readChatTemplate } from "./load/chat-template.ts";
import { loadRemote } from "./native/engine-process/remote-model.ts";
import { Supervisor } from "./native/engine-process/supervisor.ts";
import { getModel } from "./library/fetch-model.ts";
import { findInstalledProjector } from "./library/installed.ts";
import { findLocalPath } from "./library/locate.ts";
import {
  modelTraits,
  templateTraits,
  type ModelTraits,
  type TemplateTraits,
} from "./library/model-traits.ts";
import type { RecommendedSampling } from "./library/recommended-sampling.ts";
import { Model } from "./model.ts";
import {
  checkLoadOptions,
  type CheckedLoadOptions,
  type LoadOptions,
  withDraftFile,
} from "./load/load-options.ts";
import { draftWeightsOptions, engineOptions, threadCount, weightsOptions } from "./load/native-options.ts";
import type { Processor } from "./prompt/processor.ts";
import { nativeProjector } from "./library/projector.ts";
import type { Tokenizer } from "./prompt/tokenizer.ts";
import { leaseWorkers, type WorkersLease } from "./native/workers/worker-pool.ts";

/** `await using loaded = await load(path)` frees the model at the end of the block. */
export interface LoadedModel extends AsyncDisposable {
  model: Model;
  tokenizer: Tokenizer;
  /** Null if the model cannot read images: it has no projector or was loaded without it. */
  processor: Processor | null;
}

/**
 * Loads a model and starts its engine. `pathOrName` is the path of a GGUF file, or a name that `getModel()` accepts; a model that is not
 * installed is downloaded (to see the progress of the download, call `getModel()` first).
 *
 * Throws `model_not_found`, `model_invalid` (not a GGUF file, or truncated), `model_unsupported` (unknown architecture),
 * `projector_mismatch` (`mmproj` belongs to another model), `adapter_mismatch` (so does an adapter), `out_of_memory`, `invalid_request`
 * (options), or the signal's reason; for names also the errors of `getModel()`; with `rpc` also `worker_unreachable`, `worker_refused` and `worker_lost`.
 */
export async function load(pathOrName: string, options: LoadOptions = {}): Promise<LoadedModel> {
  const { signal, onProgress, ...rest } = options;
  const checked = await withDraftFile(checkLoadOptions(rest));
  signal?.throwIfAborted();
  // Starts while the files' headers are read.
  const supervisor = checked.engine === "process" ? new Supervisor(checked) : undefined;
  let workers: WorkersLease | undefined;
  let native: NativeModel | undefined;
  try {
    const { file, mmproj } = await findFiles(pathOrName, checked, signal);
    const projector = await nativeProjector({ ...checked, mmproj }, await threadCount(checked));
    const adapters = await nativeAdapters(file, checked);
    if (checked.rpc !== undefined) workers = await leaseWorkers(checked.rpc, signal);
    const parts = { signal, onProgress, projector, adapters, workers, supervisor };
    const chatTemplate = await readChatTemplate(checked);
    const traits = await modelTraits(file);
    native = await loadWeights({ ...weightsOptions(file, checked), chatTemplate }, parts);
    signal?.throwIfAborted();
    const model = await startModel(native, await engineOptions(native, file, checked), {
      ...checked,
      signal,
      workers,
      supervisor,
      sampling: traits?.sampling,
      template: chooseTemplateTraits(traits, chatTemplate),
    });
    const { tokenizer, processor } = model;
    return { model, tokenizer, processor, [Symbol.asyncDispose]: () => model[Symbol.asyncDispose]() };
  } catch (error) {
    native?.dispose();
    workers?.[Symbol.dispose]();
    await supervisor?.end();
    throw error;
  }
}

/** What the model's chat template has: the given one, or that of its file. */
function chooseTemplateTraits(file: ModelTraits | undefined, given: string): TemplateTraits | undefined {
  if (given !== "") return templateTraits(given);
  return file === undefined ? undefined : { knowsTools: file.knowsTools, knowsThinking: file.knowsThinking };
}

/** Finds the model's file and projector. */
async function findFiles(
  pathOrName: string,
  { mmproj }: CheckedLoadOptions,
  signal: AbortSignal | undefined,
): Promise<{ file: string; mmproj: string | null }> {
  const given = await findLocalPath(pathOrName);
  if (given !== undefined) return { file: given, mmproj: mmproj ?? null };
  const file = await getModel(pathOrName, { signal });
  if (mmproj !== undefined) return { file, mmproj };
  return { file, mmproj: (await findInstalledProjector(file)) ?? null };
}

async function startModel(
  native: NativeModel,
  engine: NativeEngineOptions,
  options: CheckedLoadOptions &
    Pick<LoadOptions, "signal"> & {
      workers: WorkersLease | undefined;
      supervisor: Supervisor | undefined;
      sampling: RecommendedSampling | undefined;
      template: TemplateTraits | undefined;
    },
): Promise<Model> {
  const { workers, supervisor, sampling, template } = options;
  const parts = {
    workers,
    supervisor,
    sampling,
    template,
    adapters: options.adapters.map(({ name }) => name),
    thinks: options.reasoning !== "off",
    specialTokensInContent: options.specialTokensInContent,
  };
  if (options.draftModel === undefined) return await Model.start(native, engine, parts);
  const draft = await loadWeights(draftWeightsOptions(options.draftModel, options), {
    signal: options.signal,
    onProgress: undefined,
    projector: null,
    adapters: [],
    workers: undefined, // a small model drafts faster than a network responds
    supervisor,
  });
  try {
    return await Model.start(native, engine, { draftModel: draft, ...parts });
  } finally {
    draft.dispose(); // the engine keeps what it needs
  }
}

async function loadWeights(
  weights: ReturnType<typeof weightsOptions>,
  {
    signal,
    onProgress,
    projector,
    adapters,
    workers,
    supervisor,
  }: Pick<LoadOptions, "signal" | "onProgress"> &
    Pick<NativeLoadOptions, "projector" | "adapters"> & {
      workers: WorkersLease | undefined;
      supervisor: Supervisor | undefined;
    },
): Promise<NativeModel> {
  const native: NativeLoadOptions = {
    ...weights,
    projector,
    adapters,
    workers: workers?.workers.map((worker) => worker.native) ?? [],
  };
  const report = (fraction: number): void => onProgress?.(fraction);
  const loading =
    supervisor === undefined ? await loadNative(native, report) : loadRemote(supervisor, native, report);
  return await awaitOrAbort(signal, () => loading.abort(), fromNative(loading.model));
}
