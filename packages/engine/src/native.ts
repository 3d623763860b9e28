// The only import of the addon. Everything above takes what it needs as arguments, so that it also runs on the
// scripted engine of testing/. Errors of the addon become EngineErrors here.
import type {
  BuildInfo,
  DeviceInfo,
  NativeContextOptions,
  NativeImatrixOptions,
  NativeImatrixResult,
  NativeLoad,
  NativeLoadOptions,
  NativeMeasure,
  NativeQuantizeOptions,
  NativeServeOptions,
  NativeWorker,
} from "@ingle/engine-native";
import { EngineError, type EngineErrorCode, type EngineErrorDetails } from "./errors.ts";

export type {
  BuildInfo,
  DeviceInfo,
  NativeBlockMedium,
  NativeBlocksEvent,
  NativeChat,
  NativeConstraint,
  NativeContextOptions,
  NativeEngine,
  NativeEngineOptions,
  NativeEvent,
  NativeFinishEvent,
  NativeImages,
  NativeImatrixOptions,
  NativeImatrixResult,
  NativeLoadOptions,
  NativeMeasure,
  NativeMessage,
  NativeModel,
  NativeModelInfo,
  NativePieces,
  NativePrompt,
  NativeQuantizeOptions,
  NativeReply,
  NativeReplyParser,
  NativeRequest,
  NativeStats,
  NativeStoredBlocks,
  NativeTokenLogprobs,
  NativeWorker,
} from "@ingle/engine-native";

type Addon = typeof import("@ingle/engine-native");

let addonPromise: Promise<Addon> | undefined;

/** Loaded at first use: importing @ingle/engine for its types or its library costs nothing. */
async function addon(): Promise<Addon> {
  addonPromise ??= import("@ingle/engine-native").catch((cause: unknown) => {
    addonPromise = undefined;
    throw new EngineError(
      "native_missing",
      "The native engine is not built for this machine. Run `npx --yes pnpm@12 build` in the checkout.",
      { cause },
    );
  });
  return addonPromise;
}

/** What was built, and the devices of this machine. */
export async function buildInfo(): Promise<BuildInfo> {
  return (await addon()).buildInfo();
}

/** Starts to load a model file. Rejects only when the addon is missing; the load's own end is in `model`. */
export async function loadNative(
  options: NativeLoadOptions,
  onProgress: (fraction: number) => void,
): Promise<NativeLoad> {
  return (await addon()).loadModel(options, onProgress);
}

/** A connection to a worker, as the addon holds it. */
export interface AttachedWorker {
  /** For `loadNative` and `measureNative`. */
  readonly native: NativeWorker;
  /** Whatever computes with it fails from then on. */
  isLost(): boolean;
  /** Makes it so. */
  lose(): void;
  /** Its devices, with what is free there now. Rejects with `worker_lost`. */
  devices(): Promise<DeviceInfo[]>;
}

/**
 * Attaches a worker that answers over a socket: `fd` is the other end of that, for who carries the bytes. `worker` rejects with
 * `worker_lost` when what answers is none.
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

/** Computes for the peer of a socket until it hangs up. May end the process: workers/worker-child.ts calls it in one of its own. */
export async function servePeerNative(options: NativeServeOptions): Promise<void> {
  await fromNative((await addon()).servePeer(options));
}

/** What a model would take, without loading it. */
export async function measureNative(
  model: NativeLoadOptions,
  context: NativeContextOptions,
): Promise<NativeMeasure> {
  return await fromNative((await addon()).measureModel(model, context));
}

/** Bytes of all tensors that a quantization would write. */
export async function planQuantizationNative(options: NativeQuantizeOptions): Promise<number> {
  return await fromNative((await addon()).planQuantization(options));
}

/** Cannot be stopped, and may end the process: quantize/native-child.ts calls it in one of its own. */
export async function quantizeNative(
  options: NativeQuantizeOptions,
  onTensor: (name: string) => void,
): Promise<void> {
  await fromNative((await addon()).quantizeModel(options, onTensor));
}

/** As `quantizeNative`. */
export async function computeImatrixNative(
  options: NativeImatrixOptions,
  onChunk: (done: number, total: number) => void,
): Promise<NativeImatrixResult> {
  return await fromNative((await addon()).computeImatrix(options, onChunk));
}

/**
 * For a process that is all Ingle's, once, before models are loaded: where the C library is glibc, all threads share what its
 * allocator holds, and free memory goes back to the system at once. Other native code of the process may become slower.
 */
export async function keepMemoryTight(): Promise<void> {
  (await addon()).keepMemoryTight();
}

/** Sends the native library's own log lines to `sink`, or nowhere with null. */
export async function setLogSink(sink: ((level: number, text: string) => void) | null): Promise<void> {
  (await addon()).setLogSink(sink);
}

const codeOfNative: Record<string, EngineErrorCode> = {
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
  projector_mismatch: "projector_mismatch",
  embeddings_not_supported: "embeddings_not_supported",
  engine_failed: "engine_failed",
  worker_lost: "worker_lost",
  disposed: "disposed",
};

/** Turns what the addon threw into an EngineError with the caller's stack; anything else passes unchanged. */
export function toEngineError(thrown: unknown): unknown {
  if (!(thrown instanceof Error) || EngineError.is(thrown)) return thrown;
  const { code, details } = thrown as Error & { code?: unknown; details?: EngineErrorDetails };
  const mapped = typeof code === "string" ? codeOfNative[code] : undefined;
  if (mapped === undefined) return thrown;
  return new EngineError(mapped, thrown.message, {
    cause: thrown,
    ...(details === undefined ? {} : { details }),
  });
}

/** Awaits a native promise, with its error turned. */
export async function fromNative<T>(pending: Promise<T>): Promise<T> {
  try {
    return await pending;
  } catch (thrown) {
    throw toEngineError(thrown);
  }
}
