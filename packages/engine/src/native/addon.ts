// The only module that imports the addon. Everything above it takes native objects as arguments, so that it also runs on the
// scripted addon of the fixtures. The addon's errors become EngineErrors here.
import type {
  AddonLoad,
  BuildInfo,
  DeviceInfo,
  NativeErrorCode,
  NativeLoadOptions,
  NativeWorker,
} from "@ingle/engine-native";
import { EngineError, type EngineErrorCode, type EngineErrorDetails } from "../base/errors.ts";
import type { MemoryBytes } from "../base/memory-bytes.ts";

export type {
  AddonModel,
  BuildInfo,
  DeviceInfo,
  NativeArgumentRule,
  NativeArgumentSkills,
  NativeBlockMedium,
  NativeBlocksEvent,
  NativeChat,
  NativeConstraint,
  NativeContextOptions,
  NativeDraftOptions,
  NativeEngine,
  NativeEngineOptions,
  NativeErrorCode,
  NativeErrorEvent,
  NativeEvent,
  NativeEventPipe,
  NativeFinishEvent,
  NativeImages,
  NativeImageText,
  NativeImatrixOptions,
  NativeImatrixResult,
  NativeLoad,
  NativeLoadOptions,
  NativeMeasure,
  NativeMemoryBytes,
  NativeMemoryLimits,
  NativeMessage,
  NativeModel,
  NativeModelInfo,
  NativePieces,
  NativePrompt,
  NativePromptEvent,
  NativeQuantizeOptions,
  NativeReply,
  NativeReplyParser,
  NativeRequest,
  NativeSampling,
  NativeSlotChange,
  NativeSlotCommand,
  NativeSlotWork,
  NativeStats,
  NativeStepReport,
  NativeStoredBlocks,
  NativeTemplateResult,
  NativeThoughtRules,
  NativeThoughtSyntax,
  NativeTokenLogprobs,
  NativeWorker,
} from "@ingle/engine-native";

type Addon = typeof import("@ingle/engine-native");

let addonPromise: Promise<Addon> | undefined;

/** Loads the addon at first use: importing @ingle/engine for its types or its model library costs nothing. */
async function addon(): Promise<Addon> {
  addonPromise ??= import("@ingle/engine-native").catch((cause: unknown) => {
    addonPromise = undefined;
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new EngineError("native_missing", `The native engine cannot be loaded. ${reason}`, { cause });
  });
  return addonPromise;
}

/** The build's version and options, and the devices of this machine. */
export async function buildInfo(): Promise<BuildInfo> {
  return (await addon()).buildInfo();
}

/** Starts to load a model file. Rejects only if the addon is missing; `model` of the result resolves or rejects with the load. */
export async function loadNative(
  options: NativeLoadOptions,
  onProgress: (fraction: number) => void,
): Promise<AddonLoad> {
  return (await addon()).loadModel(options, onProgress);
}

/** The addon's connection to a worker. */
export interface AttachedWorker {
  /** For `loadNative` and `measureNative`. */
  readonly native: NativeWorker;
  /** True once the connection is lost: every computation that uses the worker fails from then on. */
  isLost(): boolean;
  /** Marks the connection as lost. */
  lose(): void;
  /** The worker's devices, with their free memory now. Rejects with `worker_lost`. */
  devices(): Promise<DeviceInfo[]>;
}

/**
 * Attaches a worker over a socket. `fd` is the other end of the socket: the caller carries bytes between it and the worker. `worker`
 * rejects with `worker_lost` if the peer does not respond as a worker.
 */
export async function attachWorker(options: {
  name: string;
  replyMsMax: number;
}): Promise<{ fd: number; worker: Promise<AttachedWorker> }> {
  const native = await addon();
  const { fd, worker } = native.connectWorker(options);
  const attached = fromNative(worker).then((handle) => ({
    native: handle,
    isLost: () => native.isWorkerLost(handle),
    lose: () => native.loseWorker(handle),
    devices: () => fromNative(native.workerDevices(handle)),
  }));
  return { fd, worker: attached };
}

/**
 * Calls the addon and converts its errors to EngineErrors. Quantizing, computing an importance matrix and serving a peer cannot be
 * aborted and may end the process: call them in a child process.
 */
export async function callAddon<T>(call: (addon: Addon) => Promise<T>): Promise<T> {
  return await fromNative(call(await addon()));
}

/**
 * Keeps the memory of the process small: with glibc, all threads share one allocator arena, and freed memory returns to the system at
 * once. Call it once, before loading models, and only in a process that runs nothing but Ingle: other native code may become slower.
 */
export async function keepMemoryTight(): Promise<void> {
  (await addon()).keepMemoryTight();
}

/**
 * Permanently drops rights of this process that an engine does not need once its model is loaded. `stateFile` and the files in `slotDir` can
 * still be written; empty for none. Returns what was restricted, in words for a log: nothing if the system does not support it.
 */
export async function confineProcess(stateFile: string, slotDir: string): Promise<string[]> {
  return (await addon()).confineProcess(stateFile, slotDir);
}

/** From now on, a lost GPU ends the process, instead of failing its requests: only a new process gets the device back. */
export async function endWhenDeviceIsLost(): Promise<void> {
  (await addon()).endWhenDeviceIsLost();
}

type LogSink = (level: number, text: string) => void;

let logSink: LogSink | null = null;

/** Sends the log lines of llama.cpp to `sink`, also those of engines in processes of their own; null discards them. */
export async function setLogSink(sink: LogSink | null): Promise<void> {
  (await addon()).setLogSink(sink);
  logSink = sink;
}

/** Passes on a log line from an engine's process. */
export function logFromProcess(level: number, text: string): void {
  logSink?.(level, text);
}

const engineCodes: Readonly<Record<NativeErrorCode, EngineErrorCode>> = {
  invalid_argument: "invalid_request",
  aborted: "engine_failed",
  model_not_found: "model_not_found",
  model_invalid: "model_invalid",
  model_unsupported: "model_unsupported",
  out_of_memory: "out_of_memory",
  template_failed: "template_failed",
  context_length_exceeded: "context_length_exceeded",
  overloaded: "overloaded",
  generation_not_supported: "generation_not_supported",
  image_not_supported: "image_not_supported",
  audio_not_supported: "audio_not_supported",
  audio_invalid: "audio_invalid",
  projector_mismatch: "projector_mismatch",
  embeddings_not_supported: "embeddings_not_supported",
  engine_failed: "engine_failed",
  engine_crashed: "engine_crashed",
  worker_lost: "worker_lost",
  disposed: "disposed",
};

function isNativeCode(code: unknown): code is NativeErrorCode {
  return typeof code === "string" && Object.hasOwn(engineCodes, code);
}

/** Converts an error of the addon to an EngineError with the caller's stack; returns anything else unchanged. */
export function toEngineError(thrown: unknown): unknown {
  if (!(thrown instanceof Error) || EngineError.is(thrown)) return thrown;
  const { code, details, neededMemory } = thrown as Error & {
    code?: unknown;
    details?: EngineErrorDetails;
    neededMemory?: MemoryBytes;
  };
  if (!isNativeCode(code)) return thrown;
  return new EngineError(engineCodes[code], thrown.message, {
    cause: thrown,
    ...(details === undefined ? {} : { details }),
    ...(neededMemory === undefined ? {} : { neededMemory }),
  });
}

/** Awaits a promise of the addon; its error is converted to an EngineError. */
export async function fromNative<T>(pending: Promise<T>): Promise<T> {
  try {
    return await pending;
  } catch (thrown) {
    throw toEngineError(thrown);
  }
}

/** The abort functions of all pending work. */
const abortions = new Set<() => void>();

function abortAll(): void {
  for (const abort of abortions) abort();
}

/** Awaits work. If the signal is aborted, calls `abort`, which must end the work, and rejects with the signal's reason. */
export async function awaitOrAbort<T>(
  signal: AbortSignal | undefined,
  abort: () => void,
  pending: Promise<T>,
): Promise<T> {
  // process.exit() waits for the addon's threads without running the addon's cleanup hooks.
  if (abortions.size === 0) process.once("exit", abortAll);
  abortions.add(abort);
  signal?.addEventListener("abort", abort, { once: true });
  if (signal?.aborted) abort();
  try {
    return await pending;
  } catch (error) {
    signal?.throwIfAborted();
    throw error;
  } finally {
    signal?.removeEventListener("abort", abort);
    abortions.delete(abort);
    if (abortions.size === 0) process.off("exit", abortAll);
  }
}
