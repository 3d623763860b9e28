// load(): a model file from disk to a Model and its Tokenizer, with progress and abort, and the defaults that
// fit this machine.
import { createHash } from "node:crypto";
import path from "node:path";
import { z } from "zod";
import { abortedWith } from "./aborted-with.ts";
import { checkContextLength, contextSize, parallelDefault, type ContextSize } from "./context-size.ts";
import { EngineError } from "./errors.ts";
import { invalidOption } from "./issue-words.ts";
import { kvBlockTokens } from "./kv-blocks.ts";
import { KvBits, kvTypes } from "./kv-cache.ts";
import { getModel } from "./library/fetch-model.ts";
import { fileBytes } from "./library/file-size.ts";
import { projectorInstalledWith } from "./library/installed.ts";
import { parseModelSpec } from "./library/model-spec.ts";
import { hostMemoryBytes } from "./memory.ts";
import { Model } from "./model.ts";
import {
  fromNative,
  loadNative,
  type NativeContextOptions,
  type NativeEngineOptions,
  type NativeLoadOptions,
  type NativeModel,
} from "./native.ts";
import type { Processor } from "./processor.ts";
import { projectorOf } from "./projector.ts";
import { stateFileIn } from "./state-file.ts";
import { ThreadCount, threadsDefault } from "./threads.ts";
import type { Tokenizer } from "./tokenizer.ts";
import { leaseWorkers, RpcOptions, type WorkersLease } from "./workers/worker-pool.ts";

/** Sequences in one context; llama.cpp's own limit is 256. */
export const parallelMax = 256;
/** Host memory for evicted state when nothing is said: of a model of a billion parameters, some 90,000 tokens. */
const cacheRamDefaultMaxMiB = 2048;
const mebibyte = 1024 * 1024;

export const LoadOptions = z
  .object({
    /** Most tokens of one request, prompt and reply. Default: what the model was trained for, at most 8,192. */
    contextLength: z.int().min(16).optional(),
    /** Tokens that all requests together may hold. Default: enough for every one to be full, at most 32,768. */
    cells: z.int().min(16).optional(),
    /** Requests computed at the same time. Default 8. */
    parallel: z.int().min(1).max(parallelMax).default(parallelDefault),
    /** Threads that compute. Default: one per core of this machine. */
    threads: ThreadCount.optional(),
    /** Layers on the GPU, where there is one. Default: all. */
    gpuLayers: z.int().min(0).optional(),
    /**
     * Bits in which a value of the KV cache is stored: fewer take less memory, so that more tokens fit, and are less exact.
     * Default 16.
     */
    kvBits: KvBits.optional(),
    /** The same for keys alone, and for values alone. Default: `kvBits`. */
    kvBitsK: KvBits.optional(),
    kvBitsV: KvBits.optional(),
    /** A type of ggml by its name instead (`buildInfo().kvTypes`), for keys and for values. */
    kvTypeK: z.string().optional(),
    kvTypeV: z.string().optional(),
    /** Flash attention needs less memory and is faster nearly everywhere; `auto` lets the backend choose. */
    flashAttention: z.enum(["auto", "on", "off"]).default("auto"),
    /** Most tokens in one turn of the engine. */
    batchTokens: z.int().min(8).max(16_384).default(512),
    /**
     * Most prompt tokens in a turn beside running replies; less is smoother for them, more is faster for the prompt.
     * Default: the engine finds it by its own measurement, so that the replies keep their rhythm.
     */
    batchTokensBusy: z.int().min(1).max(16_384).optional(),
    /** Requests that may wait in line; one more is `overloaded`. */
    waitingMax: z.int().min(0).max(100_000).default(256),
    /**
     * What happens when a chat is too long for the context. `length`: the reply ends there, and a longer prompt is
     * `context_length_exceeded`. `shift`: the system message stays, the oldest turns are dropped, and the reply goes on.
     */
    contextOverflow: z.enum(["length", "shift"]).default("length"),
    /**
     * `ngram` guesses several tokens at a time from the text before them and computes them in one turn, where that is
     * faster. What may be generated stays the same. Not for hybrid and recurrent models.
     */
    speculation: z.enum(["off", "ngram"]).default("off"),
    /**
     * Memory of the machine, in MiB, for the state of conversations that the context has no more room for: when they go
     * on, it is copied back instead of being computed again. 0 keeps none. Default: an eighth of the machine's memory, at
     * most 2,048.
     */
    cacheRamMiB: z.int().min(0).max(1_048_576).optional(),
    /**
     * A folder for the same between one life of the process and the next: written when the model is freed, read when it is
     * loaded. It holds people's conversations; only its owner may read it. Default: nothing is kept.
     */
    cacheDir: z.string().min(1).optional(),
    /**
     * A GGUF file of a smaller model with the same vocabulary, which guesses tokens instead while one reply is running:
     * for a model that takes far longer for a token. Instead of `speculation`.
     */
    draftModel: z.string().min(1).optional(),
    /** Most tokens that the draft model guesses in one turn. Default 4. */
    draftTokens: z.int().min(1).max(16).default(4),
    /**
     * The GGUF file of the model's projector, with which it reads pictures; null for none. Default: of a model that is called by
     * its name, the one that was installed with it.
     */
    mmproj: z.string().min(1).nullable().optional(),
    /**
     * Tokens of a picture at least and at most, for models that let that be chosen: more see finer, fewer are faster.
     * Default: what the projector's file says.
     */
    imageMinTokens: z.int().min(1).max(16_384).optional(),
    imageMaxTokens: z.int().min(1).max(16_384).optional(),
    /**
     * Reports which blocks of tokens can be reused (`model.followKvBlocks()`). The text is part of every block's hash: name the
     * model, so that equal tokens of two models are different blocks. Default: nothing is reported, which costs nothing.
     */
    kvBlockSalt: z.string().min(1).optional(),
    /**
     * Machines that run `ingle worker`: they hold layers of the model, each as many as it has memory for, before this machine's
     * GPUs. Default: none.
     */
    rpc: RpcOptions.optional(),
    mmap: z.boolean().default(true),
    mlock: z.boolean().default(false),
  })
  .meta({ id: "LoadOptions" });
export type LoadOptions = z.input<typeof LoadOptions> & {
  signal?: AbortSignal | undefined;
  /** Called with 0 … 1 while the weights are read. */
  onProgress?: ((fraction: number) => void) | undefined;
};

/** Options that are whole and within their rules. */
export type CheckedLoadOptions = z.output<typeof LoadOptions>;

/** `await using loaded = await load(path)` frees the model at the end of the block. */
export interface LoadedModel extends AsyncDisposable {
  model: Model;
  tokenizer: Tokenizer;
  /** Null where the model reads no pictures: it has no projector, or was loaded without. */
  processor: Processor | null;
}

/**
 * Loads a model and starts its engine: the path of a GGUF file, or a name as `getModel()` takes it, which fetches what is
 * not there (call it first to see the progress of that).
 *
 * Throws `model_not_found`, `model_invalid` (no GGUF, truncated), `model_unsupported` (unknown architecture),
 * `projector_mismatch` (`mmproj` belongs to another model), `out_of_memory`, `invalid_request` (options), for names also
 * what `getModel()` throws, with `rpc` `worker_unreachable`, `worker_refused` and `worker_lost`, or the signal's reason.
 */
export async function load(pathOrName: string, options: LoadOptions = {}): Promise<LoadedModel> {
  const { signal, onProgress, ...rest } = options;
  const checked = checkLoadOptions(rest);
  signal?.throwIfAborted();
  const { file, mmproj } = await filesOf(pathOrName, checked, signal);
  const projector = await projectorOf({ ...checked, mmproj }, threadsOf(checked));
  const workers = checked.rpc === undefined ? undefined : await leaseWorkers(checked.rpc, signal);
  let native: NativeModel | undefined;
  try {
    native = await loadWeights(file, checked, { signal, onProgress, projector, workers });
    signal?.throwIfAborted();
    const model = await startModel(native, await engineOptions(native, file, checked), {
      ...checked,
      signal,
      workers,
    });
    const { tokenizer, processor } = model;
    return { model, tokenizer, processor, [Symbol.asyncDispose]: () => model[Symbol.asyncDispose]() };
  } catch (error) {
    native?.dispose();
    workers?.[Symbol.dispose]();
    throw error;
  }
}

/** A path stays what it is, also of a file whose name does not end in `.gguf`, as in caches. */
async function filesOf(
  pathOrName: string,
  { mmproj }: CheckedLoadOptions,
  signal: AbortSignal | undefined,
): Promise<{ file: string; mmproj: string | null }> {
  const resolved = path.resolve(pathOrName);
  const isPath = parseModelSpec(pathOrName).kind === "file" || (await fileBytes(resolved)) !== undefined;
  if (isPath) return { file: resolved, mmproj: mmproj ?? null };
  const file = await getModel(pathOrName, { signal });
  if (mmproj !== undefined) return { file, mmproj };
  return { file, mmproj: (await projectorInstalledWith(file)) ?? null };
}

async function startModel(
  native: NativeModel,
  engine: NativeEngineOptions,
  options: CheckedLoadOptions & Pick<LoadOptions, "signal"> & { workers: WorkersLease | undefined },
): Promise<Model> {
  const { workers } = options;
  if (options.draftModel === undefined) return await Model.start(native, engine, { workers });
  const draft = await loadWeights(path.resolve(options.draftModel), options, {
    signal: options.signal,
    onProgress: undefined,
    projector: null,
    workers: undefined, // it is small, and guesses faster than a network answers
  });
  try {
    return await Model.start(native, engine, { draftModel: draft, workers });
  } finally {
    draft.dispose(); // the engine keeps what it needs
  }
}

/** Throws `invalid_request` with the option that is wrong. Used by fit.ts too. */
export function checkLoadOptions(options: z.input<typeof LoadOptions>): CheckedLoadOptions {
  const result = LoadOptions.safeParse(options);
  if (result.success) return result.data;
  throw invalidOption(result.error, result.error.issues[0]);
}

async function loadWeights(
  file: string,
  options: CheckedLoadOptions,
  {
    signal,
    onProgress,
    projector,
    workers,
  }: Pick<LoadOptions, "signal" | "onProgress"> &
    Pick<NativeLoadOptions, "projector"> & { workers: WorkersLease | undefined },
): Promise<NativeModel> {
  const loading = await loadNative(
    {
      path: file,
      gpuLayers: options.gpuLayers ?? -1,
      mmap: options.mmap,
      mlock: options.mlock,
      projector,
      workers: workers?.workers.map((worker) => worker.native) ?? [],
    },
    (fraction) => onProgress?.(fraction),
  );
  return await abortedWith(signal, () => loading.abort(), fromNative(loading.model));
}

/** Threads that compute. Used by fit.ts too. */
export function threadsOf({ threads }: CheckedLoadOptions): number {
  return threads ?? threadsDefault();
}

/** What a context of this size takes of the options. Used by fit.ts too. */
export async function contextOptions(
  options: CheckedLoadOptions,
  size: ContextSize,
): Promise<NativeContextOptions> {
  const threads = threadsOf(options);
  return {
    ...size,
    parallel: options.parallel,
    batchTokens: options.batchTokens,
    threads,
    threadsBatch: threads,
    ...(await kvTypes(options)),
    flashAttention: options.flashAttention,
  };
}

async function engineOptions(
  native: NativeModel,
  modelPath: string,
  options: CheckedLoadOptions,
): Promise<NativeEngineOptions> {
  const { contextLengthTrain } = native.info;
  checkContextLength(options, contextLengthTrain);
  return {
    ...(await contextOptions(options, contextSize(options, contextLengthTrain))),
    batchTokensBusy: options.batchTokensBusy ?? 0,
    waitingMax: options.waitingMax,
    contextOverflow: options.contextOverflow,
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

async function keptState(
  modelPath: string,
  options: CheckedLoadOptions,
): Promise<Pick<NativeEngineOptions, "cacheRamBytes" | "stateFile" | "stateKey">> {
  const cacheRamBytes = (options.cacheRamMiB ?? cacheRamDefaultMiB()) * mebibyte;
  if (options.cacheDir === undefined) return { cacheRamBytes, stateFile: "", stateKey: new Uint8Array(32) };
  if (cacheRamBytes === 0) {
    throw new EngineError(
      "invalid_request",
      "cacheDir: what is kept on the disk is what cacheRamMiB has room for; give it more than 0.",
      { details: { param: "cacheDir" } },
    );
  }
  const settings = { ...(await kvTypes(options)), flashAttention: options.flashAttention };
  return { cacheRamBytes, ...(await stateFileIn(path.resolve(options.cacheDir), modelPath, settings)) };
}

function speculationOf(
  { info }: NativeModel,
  options: CheckedLoadOptions,
): Pick<NativeEngineOptions, "speculation" | "draftTokens"> {
  const { speculation, draftModel, draftTokens } = options;
  const param = draftModel === undefined ? "speculation" : "draftModel";
  if (draftModel !== undefined && speculation !== "off") {
    throw new EngineError("invalid_request", `${param}: choose a draft model or speculation, not both.`, {
      details: { param },
    });
  }
  if (info.isRecurrent && (draftModel !== undefined || speculation !== "off")) {
    throw new EngineError(
      "invalid_request",
      `${param}: ${info.architecture} keeps a state that cannot be taken back when a guess was wrong. ` +
        "Leave it out for this model.",
      { details: { param } },
    );
  }
  return { speculation: draftModel === undefined ? speculation : "draft-model", draftTokens };
}

function cacheRamDefaultMiB(): number {
  return Math.min(cacheRamDefaultMaxMiB, Math.floor(hostMemoryBytes() / 8 / mebibyte));
}
