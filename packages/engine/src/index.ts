// The public names of @ingle/engine.
export type { ConversionReport, ConversionStep } from "@ingle/mlx";
export { ChatSession, type ChatSessionOptions } from "./chat-session.ts";
export { checkTool } from "./prompt/tool-rules.ts";
export type { EmbeddingInput, EmbeddingResult, EmbedOptions } from "./generate/embeddings.ts";
export type { RerankOptions, RerankResult } from "./generate/rerank.ts";
export type { EngineCrash, ModelProcess } from "./native/engine-process/supervisor.ts";
export { EngineError, type EngineErrorCode, type EngineErrorDetails } from "./base/errors.ts";
export { fitModel, type FittedModel, type Footprint } from "./load/fit.ts";
export { forecastMemory, type MemoryForecast } from "./load/forecast.ts";
export { generate, streamGenerate, type GenerateParameters, type PromptReader } from "./generate.ts";
export { checkAudios, readAudioHeader } from "./media/audio/audio-header.ts";
export {
  audioLimits,
  AudioFile,
  type AudioFormat,
  type AudioHeader,
  type AudioLimits,
  audioBytes,
} from "./media/audio/audio-limits.ts";
export { dataUrlBytes } from "./media/images/image-bytes.ts";
export {
  decodeImage,
  decodeImages,
  type DecodeImageOptions,
  type DecodeImagesOptions,
} from "./media/images/decode-image.ts";
export { imageBytes, ImageSource, type ImageBytesOptions } from "./media/images/image-bytes.ts";
export { readImageHeader } from "./media/images/image-header.ts";
export {
  imageLimits,
  type ImageFormat,
  type ImageHeader,
  type ImageLimits,
} from "./media/images/image-limits.ts";
export { RgbImage } from "./media/images/image-limits.ts";
export { Generation } from "./generate/generation.ts";
export type { ChangeSlotOptions, SlotChange, Slots } from "./generate/slots.ts";
export type {
  GenerationTimings,
  Usage,
  FinishReason,
  GenerationChunk,
  GenerationResult,
  PromptProgress,
  PromptTokenLogprobs,
  TokenLogprobs,
} from "./generate/generation-result.ts";
export { promptLogprobsMax } from "./generate/sampling.ts";
export { GenerationRequest, checkGenerationRequest } from "./generate/generation-request.ts";
export { addAlias, removeAlias } from "./library/aliases.ts";
export {
  defaultModel,
  type DefaultModel,
  type DefaultModelOptions,
  type StarterReason,
} from "./library/default-model.ts";
export { comparePackage, type InstalledPackage, type PackageDifferences } from "./library/compare-package.ts";
export { freeBytesOn, isDiskFull } from "./library/disk-space.ts";
export { ensureStarterModel, fetchModel, getModel } from "./library/fetch-model.ts";
export type { HubSearchResult, HubModel } from "./library/hub/hub-api.ts";
export { importModels, registerModel, type ImportOptions } from "./library/import-model.ts";
export {
  findInstalledAdapters,
  listModels,
  recordUse,
  findInstalledProjector,
  type InstalledAdapter,
  type InstalledModel,
} from "./library/installed.ts";
export type { FetchOptions, LibraryOptions } from "./library/library-options.ts";
export { locateModel, type LocatedModel } from "./library/locate.ts";
export { memoryNeed, peekFile, type ModelFacts } from "./library/model-facts.ts";
export { modelTraits, type ModelTraits, type TemplateTraits } from "./library/model-traits.ts";
export { projectorTraits, type ProjectorTraits } from "./library/projector.ts";
export type { RecommendedSampling } from "./library/recommended-sampling.ts";
export { parseModelSpec, type ModelSpec } from "./library/model-spec.ts";
export type { KnownNpmModel, NpmModel } from "./library/npm-model.ts";
export { libraryPaths, type LibraryPaths } from "./base/home.ts";
export { addMemory, hostMemory, sumBytes, type MemoryBytes } from "./base/memory-bytes.ts";
export {
  otherPrograms,
  takeOverModels,
  type OtherProgram,
  type TakenModel,
  type TakeOverOptions,
} from "./library/take-over.ts";
export type { LibraryProgress } from "./library/progress.ts";
export {
  isRemovable,
  pruneLibrary,
  removeModel,
  type PruneOptions,
  type Removal,
} from "./library/remove-model.ts";
export {
  describeModel,
  describeRepository,
  searchModels,
  type OfferedModel,
  type OfferedRepository,
} from "./library/search-hub.ts";
export { starterModel } from "./library/npm-model.ts";
export {
  kvBlockTokens,
  type KvBlockFollower,
  type KvBlockMedium,
  type KvBlockReport,
  type StoredKvBlocks,
} from "./native/kv-blocks.ts";
export { load, type LoadedModel } from "./load.ts";
export {
  fitsInto,
  hostMemoryBytes,
  remainingBudget,
  memoryBudget,
  type MemoryBudget,
} from "./machine/memory.ts";
export { ContentPart, Message, ToolCall } from "./prompt/messages.ts";
export { type Priority } from "./generate/native-request.ts";
export { Model, type GenerateOptions, type ModelInfo } from "./model.ts";
export {
  buildInfo,
  keepMemoryTight,
  setLogSink,
  type BuildInfo,
  type DeviceInfo,
  type NativeStats,
} from "./native/addon.ts";
export { defaultThreads } from "./native/default-threads.ts";
export { type Processors } from "./machine/processors.ts";
export { type ThreadChoice } from "./machine/threads.ts";
export { applyChatTemplate, Processor, TemplateMessage } from "./prompt/processor.ts";
export {
  computeImatrix,
  type ComputedImatrix,
  type ImatrixOptions,
  type ImatrixProgress,
} from "./quantize/compute-imatrix.ts";
export { quantizationLevels, type QuantizationLevel } from "./quantize/levels.ts";
export {
  quantizeModel,
  type QuantizedModel,
  type QuantizeOptions,
  type QuantizeProgress,
} from "./quantize/quantize-model.ts";
export type { ToolCallDelta } from "./generate/reply-reader.ts";
export { ResponseFormat, replyGrammar } from "./prompt/response-format.ts";
export { Limits, Sampling } from "./generate/sampling.ts";
export type { SessionTool, SessionToolContext } from "./session-tools.ts";
export { ChatTemplateOptions, Tokenizer, type EncodeOptions } from "./prompt/tokenizer.ts";
export { Tool } from "./prompt/tools.ts";
export { isReadableByOthers } from "./native/workers/worker-key.ts";
export type { OfferedDevice } from "./native/workers/hello.ts";
export { WorkerHost, type WorkerEvent, type WorkerHostOptions } from "./native/workers/worker-host.ts";
export {
  makeWorkerKey,
  parseWorkerKey,
  readWorkerKey,
  saveWorkerKey,
  workerKeyFile,
  type WorkerKey,
} from "./native/workers/worker-key.ts";
export { RpcOptions, workerDevices } from "./native/workers/worker-pool.ts";
export { LoadOptions, parallelMax } from "./load/load-options.ts";
