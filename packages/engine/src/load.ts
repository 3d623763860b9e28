// load(): loads a model file into a Model and its Tokenizer, with progress, abort, and defaults that fit this machine.
import { createHash } from "node:crypto";
import { z } from "zod";
import {
  abortedWith,
  fromNative,
  loadNative,
  type NativeContextOptions,
  type NativeEngineOptions,
  type NativeLoadOptions,
  type NativeModel,
} from "./native.ts";
import { nativeAdapters } from "./adapters/adapter-file.ts";
import { AdapterLayers, AdapterOptions } from "./adapters/adapter-options.ts";
import { chatTemplateOptions, givenChatTemplate } from "./chat-template.ts";
import { checkContextLength, contextSize, parallelDefault, type ContextSize } from "./context-size.ts";
import { sizesByDevice } from "./device-sizes.ts";
import { loadRemote } from "./engine-process/remote-model.ts";
import { Supervisor } from "./engine-process/supervisor.ts";
import { deviceBounds, deviceChoices } from "./device-bounds.ts";
import { cpusOf, deviceOptions } from "./device-options.ts";
import { invalidRequest } from "./errors.ts";
import { invalidOption } from "./issue-message.ts";
import { kvBlockTokens } from "./kv-blocks.ts";
import { keptState } from "./kept-state.ts";
import { KvBits, kvTypes } from "./kv-cache.ts";
import { withDraftFile } from "./library/draft-file.ts";
import { getModel } from "./library/fetch-model.ts";
import { projectorInstalledWith } from "./library/installed.ts";
import { pathMeant } from "./library/locate.ts";
import {
  modelTraits,
  templateTraits,
  type ModelTraits,
  type TemplateTraits,
} from "./library/model-traits.ts";
import type { RecommendedSampling } from "./library/recommended-sampling.ts";
import { ThreadCount, threadsDefault } from "./memory.ts";
import { Model } from "./model.ts";
import { computeOptions, draftWeightsOptions, stretched, weightsOptions } from "./native-device-options.ts";
import type { Processor } from "./processor.ts";
import { projectorOf } from "./projector.ts";
import { mtpOf, speculationOf } from "./speculation-options.ts";
import type { Tokenizer } from "./tokenizer.ts";
import { leaseWorkers, RpcOptions, type WorkersLease } from "./workers/worker-pool.ts";

/** The maximum number of sequences in one context: llama.cpp's own limit. */
export const parallelMax = 256;
const checkpointRamDefaultMiB = 256;
const mebibyte = 1024 * 1024;

export const LoadOptions = z
  .object({
    /** The maximum number of tokens of one request, prompt and reply together. Default: the length the model was trained for, at most 8,192. */
    contextLength: z.int().min(16).optional(),
    /**
     * KV cells: the tokens that all requests together may hold. Default: `contextLength` for each parallel request, at most 32,768;
     * with `kvUnified: false`, without that limit and with a quarter more.
     */
    cells: z.int().min(16).optional(),
    /** The maximum number of requests that are computed at the same time. Default 8. */
    parallel: z.int().min(1).max(parallelMax).default(parallelDefault),
    /** Threads for computation. Default: one per core of this machine. */
    threads: ThreadCount.optional(),
    /**
     * Bits per value of the KV cache: with fewer, more tokens fit into the same memory, but results are less exact. Default 16.
     */
    kvBits: KvBits.optional(),
    /** Bits for keys only and for values only. Default: `kvBits`. */
    kvBitsK: KvBits.optional(),
    kvBitsV: KvBits.optional(),
    /** ggml types by name (`buildInfo().kvTypes`) for keys and for values; they take precedence over the bits. */
    kvTypeK: z.string().optional(),
    kvTypeV: z.string().optional(),
    /** Flash attention needs less memory and is nearly always faster; `auto` lets the backend choose. */
    flashAttention: z.enum(deviceChoices.flashAttention).default("auto"),
    /**
     * Whether all requests share one pool of KV cells. False gives each `contextLength` cells of its own: a GPU then computes many
     * requests without reading the cells of the others, but copies shared prefixes, and the host KV tier is not used. `cells` must hold
     * one context more than `parallel`; not for models with recurrent state or over workers. Default: true, unless GPUs compute all
     * layers and `cells` hold that many contexts.
     */
    kvUnified: z.boolean().optional(),
    /**
     * The maximum number of tokens in one step of the engine. Default: 512; where GPUs compute everything, 1,024 with 12 GiB of their
     * memory and 2,048 with 40 GiB.
     */
    batchTokens: z.int().min(deviceBounds.batchTokens.min).max(deviceBounds.batchTokens.max).optional(),
    /**
     * The step budget: the maximum number of prompt tokens that a step computes beside decoding sequences. A small budget keeps running
     * replies smooth; a large one computes prompts faster. Default: the engine measures its steps and adapts the budget.
     */
    batchTokensBusy: z.int().min(1).max(16_384).optional(),
    /** The maximum length of the waiting queue; a further request fails with `overloaded`. Default 256. */
    waitingMax: z.int().min(0).max(100_000).default(256),
    /**
     * What happens when a chat is too long for the context. `length`: the reply ends, and a prompt that is too long fails with
     * `context_length_exceeded`. `shift`: the system message stays, the oldest turns are dropped, and the reply continues.
     * Default `length`.
     */
    contextOverflow: z.enum(["length", "shift"]).default("length"),
    /**
     * Drafts several tokens and verifies them in one step, where that is faster. The distribution of generated texts stays the same.
     * `ngram` drafts from the preceding text and from earlier replies. Requests with `cachePrompt: false` neither draft from earlier
     * replies nor are drafted from. Some recurrent models do not support it (`info.rollsBack`). `mtp` drafts with the layers for
     * multi-token prediction that some files have (`info.mtpLayers`). Default: `mtp` for a file with such layers, otherwise `off`;
     * recurrent models use them by default only if rolling back their state takes little memory.
     */
    speculation: z.enum(["off", "ngram", "mtp"]).optional(),
    /**
     * The size in MiB of the host KV tier, which holds the state of conversations that were evicted from the context: when they
     * continue, the state is copied back instead of being computed again. 0 disables it. Default: an eighth of the machine's memory,
     * at most 2,048.
     */
    cacheRamMiB: z.int().min(0).max(1_048_576).optional(),
    /**
     * A folder that keeps the host KV tier across restarts: it is written when the model is freed and read when the model is loaded.
     * Its files contain conversations, so only their owner can read them. Default: nothing is kept.
     */
    cacheDir: z.string().min(1).optional(),
    /**
     * A folder for the files of `model.slots.save()` and `restore()`, which is created. They contain conversations, so only their owner
     * can read them. Default: there are no such files.
     */
    slotDir: z.string().min(1).optional(),
    /**
     * The GGUF file of a draft model, or the name of an installed one. Either a smaller model with the same vocabulary, which drafts
     * while a single reply is running: it pays if the model needs far longer per token. Or a speculator that was trained for this
     * model (EAGLE-3, DFlash, DSpark): its layers read the model's hidden states and draft for all replies together. Cannot be
     * combined with `ngram` or `mtp`.
     */
    draftModel: z.string().min(1).optional(),
    /**
     * The maximum number of tokens that the draft model drafts in one step. Default 4, or the size of the blocks that a DFlash or DSpark
     * speculator drafts.
     */
    draftTokens: z.int().min(1).max(16).optional(),
    /**
     * The GGUF file of the model's projector, which lets it read images; null for none. Default: for a model given by name, the
     * projector that was installed with it.
     */
    mmproj: z.string().min(1).nullable().optional(),
    /**
     * LoRA adapters and control vectors that requests may use by their names (`adapters` of a request): at most 32, each of a rank of
     * at most 1,024. They take memory beside the weights. Requests with different adapters are computed in different steps, which take turns.
     * Cannot be combined with `rpc`. Default: none.
     */
    adapters: AdapterOptions.default([]),
    /** The layers that control vectors change. Default: those that their files name. */
    controlVectorLayers: AdapterLayers.optional(),
    /**
     * The minimum and maximum number of tokens of an image, for models with a variable number: more tokens show finer details, fewer
     * are faster. Default: the values in the projector's file.
     */
    imageMinTokens: z.int().min(1).max(16_384).optional(),
    imageMaxTokens: z.int().min(1).max(16_384).optional(),
    /**
     * Enables reports of the KV cache's reusable blocks (`model.followKvBlocks()`). The salt is part of every block's hash: use the
     * model's name, so that equal tokens of two models are different blocks. Default: no reports, at no cost.
     */
    kvBlockSalt: z.string().min(1).optional(),
    /**
     * Machines that run `ingle worker`: each holds as many layers of the model as fit into its memory; this machine's GPUs come after
     * them. Default: none.
     */
    rpc: RpcOptions.optional(),
    /**
     * Where the engine computes: in this process, or in one of its own. A process of its own costs a little time and memory, but a
     * crash ends only the model's running generations: those that have produced nothing yet start again, the others fail with
     * `engine_crashed`. Cannot be combined with `rpc`. Default `in-process`.
     */
    engine: z.enum(["process", "in-process"]).default("in-process"),
    /**
     * The milliseconds that one step of an engine in a process of its own may take: a process that makes no step for longer counts as
     * hung, and is ended like one that crashed. Default 10 minutes.
     */
    stepTimeoutMs: z.int().min(100).max(86_400_000).default(600_000),
    ...chatTemplateOptions,
    /** `off`: the model does not reason in chats that do not say whether it may (`thinking`). Default `auto`: it reasons if it can, as with `on`. */
    reasoning: z.enum(["on", "off", "auto"]).default("auto"),
    /**
     * Whether special tokens that are spelled in a message, such as `<|im_end|>`, become these tokens. By default only those that the chat
     * template writes itself do, and a text that somebody types, pastes or fetches is always text. Prompts without a template are not
     * concerned. Default false.
     */
    specialTokensInContent: z.boolean().default(false),
    ...deviceOptions,
  })
  .meta({ id: "LoadOptions" });
export type LoadOptions = z.input<typeof LoadOptions> & {
  signal?: AbortSignal | undefined;
  /** Called while the weights are read, with the fraction that was read, 0 … 1. */
  onProgress?: ((fraction: number) => void) | undefined;
};

/** Validated options with their defaults. */
export type CheckedLoadOptions = z.output<typeof LoadOptions>;

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
    const { file, mmproj } = await filesOf(pathOrName, checked, signal);
    const projector = await projectorOf({ ...checked, mmproj }, threadsOf(checked));
    const adapters = await nativeAdapters(file, checked);
    if (checked.rpc !== undefined) workers = await leaseWorkers(checked.rpc, signal);
    const parts = { signal, onProgress, projector, adapters, workers, supervisor };
    const chatTemplate = await givenChatTemplate(checked);
    const traits = await modelTraits(file);
    native = await loadWeights({ ...weightsOptions(file, checked), chatTemplate }, parts);
    signal?.throwIfAborted();
    const model = await startModel(native, await engineOptions(native, file, checked), {
      ...checked,
      signal,
      workers,
      supervisor,
      sampling: traits?.sampling,
      template: templateOf(traits, chatTemplate),
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
function templateOf(file: ModelTraits | undefined, given: string): TemplateTraits | undefined {
  if (given !== "") return templateTraits(given);
  return file === undefined ? undefined : { knowsTools: file.knowsTools, knowsThinking: file.knowsThinking };
}

/** Finds the model's file and projector. */
async function filesOf(
  pathOrName: string,
  { mmproj }: CheckedLoadOptions,
  signal: AbortSignal | undefined,
): Promise<{ file: string; mmproj: string | null }> {
  const given = await pathMeant(pathOrName);
  if (given !== undefined) return { file: given, mmproj: mmproj ?? null };
  const file = await getModel(pathOrName, { signal });
  if (mmproj !== undefined) return { file, mmproj };
  return { file, mmproj: (await projectorInstalledWith(file)) ?? null };
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

/** Validates options. Throws `invalid_request` with the name of the invalid option. */
export function checkLoadOptions(options: z.input<typeof LoadOptions>): CheckedLoadOptions {
  const result = LoadOptions.safeParse(options);
  if (!result.success) throw invalidOption(result.error, result.error.issues[0]);
  if (result.data.engine === "process" && result.data.rpc !== undefined)
    throw invalidRequest("engine", "models over workers (rpc) run in this process: use in-process.");
  return result.data;
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
  return await abortedWith(signal, () => loading.abort(), fromNative(loading.model));
}

/** The number of threads for computation. */
export function threadsOf({ threads, ...options }: CheckedLoadOptions): number {
  const cpus = cpusOf(options).length;
  return threads ?? (cpus > 0 ? cpus : threadsDefault());
}

/** The native options of a context of this size. */
export async function contextOptions(
  options: CheckedLoadOptions,
  size: ContextSize,
): Promise<NativeContextOptions> {
  const threads = threadsOf(options);
  const { batchTokens = (await sizesByDevice(options)).batchTokens } = options;
  return {
    ...size,
    parallel: options.parallel,
    batchTokens,
    threads,
    threadsBatch: options.threadsBatch ?? threads,
    ...(await kvTypes(options)),
    flashAttention: options.flashAttention,
    kvUnified: kvUnifiedOf(options),
    mtp: mtpOf(options),
    ...computeOptions({ ...options, batchTokens }),
  };
}

function kvUnifiedOf({ kvUnified }: CheckedLoadOptions): NativeContextOptions["kvUnified"] {
  if (kvUnified === undefined) return "auto";
  return kvUnified ? "on" : "off";
}

async function engineOptions(
  native: NativeModel,
  modelPath: string,
  options: CheckedLoadOptions,
): Promise<NativeEngineOptions> {
  const contextLengthTrain = stretched(native.info.contextLengthTrain, options);
  checkContextLength(options, contextLengthTrain);
  return {
    ...(await contextOptions(options, contextSize(options, contextLengthTrain))),
    batchTokensBusy: options.batchTokensBusy ?? 0,
    waitingMax: options.waitingMax,
    contextOverflow: options.contextOverflow,
    checkpointBytes: (options.checkpointRamMiB ?? checkpointRamDefaultMiB) * mebibyte,
    ...speculationOf(native, options),
    ...(await keptState(modelPath, options)),
    ...blockReports(options),
  };
}

function blockReports({
  kvBlockSalt,
}: CheckedLoadOptions): Pick<NativeEngineOptions, "kvBlockTokens" | "kvBlockSeed"> {
  if (kvBlockSalt === undefined) return { kvBlockTokens: 0, kvBlockSeed: new Uint8Array(8) };
  return { kvBlockTokens, kvBlockSeed: createHash("sha256").update(kvBlockSalt).digest().subarray(0, 8) };
}
