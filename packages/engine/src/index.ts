// The public names of @ingle/engine.
export type { ConversionReport, ConversionStep } from "@ingle/mlx";
export { ChatSession, type ChatSessionOptions } from "./chat-session.ts";
export { checkTool } from "./check-tool.ts";
export type { EmbeddingInput, EmbeddingResult, EmbedOptions } from "./embeddings.ts";
export type { RerankOptions, RerankResult } from "./rerank.ts";
export type { EngineCrash, ModelProcess } from "./engine-process/supervisor.ts";
export { EngineError, type EngineErrorCode, type EngineErrorDetails } from "./errors.ts";
export { fitModel, type FittedModel, type Footprint } from "./fit.ts";
export { forecastMemory, type MemoryForecast } from "./forecast.ts";
export { generate, streamGenerate, type GenerateParameters, type PromptReader } from "./generate.ts";
export { audioBytes } from "./audio/audio-bytes.ts";
export { checkAudios, readAudioHeader } from "./audio/audio-header.ts";
export {
  audioLimits,
  AudioFile,
  type AudioFormat,
  type AudioHeader,
  type AudioLimits,
} from "./audio/audio-limits.ts";
export { dataUrlBytes } from "./images/image-bytes.ts";
export {
  decodeImage,
  decodeImages,
  type DecodeImageOptions,
  type DecodeImagesOptions,
} from "./images/decode-image.ts";
export { imageBytes, ImageSource, type ImageBytesOptions } from "./images/image-bytes.ts";
export { readImageHeader } from "./images/image-header.ts";
export { imageLimits, type ImageFormat, type ImageHeader, type ImageLimits } from "./images/image-limits.ts";
export { RgbImage } from "./images/image-limits.ts";
export {
  Generation,
  type FinishReason,
  type GenerationChunk,
  type GenerationResult,
  type PromptProgress,
  type PromptTokenLogprobs,
  type TokenLogprobs,
} from "./generation.ts";
export type { ChangeSlotOptions, SlotChange, Slots } from "./slots.ts";
export type { GenerationTimings, Usage } from "./generation-usage.ts";
export { promptLogprobsMax } from "./sampling.ts";
export { GenerationRequest, checkGenerationRequest } from "./generation-request.ts";
export { addAlias, removeAlias } from "./library/aliases.ts";
export {
  defaultModel,
  type DefaultModel,
  type DefaultModelOptions,
  type PassedOver,
} from "./library/default-model.ts";
export { freeBytesOn } from "./library/disk-space.ts";
export { ensureStarterModel, fetchModel, getModel } from "./library/fetch-model.ts";
export type { HubSearchResult } from "./library/hub/hub-api.ts";
export { importModels, registerModel, type ImportOptions } from "./library/import-model.ts";
export {
  adaptersInstalledWith,
  listModels,
  noteUse,
  projectorInstalledWith,
  type InstalledAdapter,
  type InstalledModel,
} from "./library/installed.ts";
export type { FetchOptions, LibraryOptions } from "./library/library-options.ts";
export { locateModel, type HubModel, type LocatedModel } from "./library/locate.ts";
export { memoryNeed, peekFile, type ModelFacts } from "./library/model-facts.ts";
export { modelTraits, type ModelTraits, type TemplateTraits } from "./library/model-traits.ts";
export { projectorTraits, type ProjectorTraits } from "./library/projector-traits.ts";
export type { RecommendedSampling } from "./library/recommended-sampling.ts";
export { parseModelSpec, type ModelSpec } from "./library/model-spec.ts";
export type { KnownNpmModel, NpmModel } from "./library/npm-model.ts";
export { libraryPaths, type LibraryPaths } from "./library/paths.ts";
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
} from "./kv-blocks.ts";
export { LoadOptions, load, parallelMax, type LoadedModel } from "./load.ts";
export {
  addMemory,
  fitsInto,
  hostMemory,
  hostMemoryBytes,
  leftOf,
  memoryBudget,
  totalOf,
  type MemoryBudget,
  type MemoryBytes,
} from "./memory.ts";
export { ContentPart, Message, ToolCall } from "./messages.ts";
export { Model, type GenerateOptions, type ModelInfo } from "./model.ts";
export {
  buildInfo,
  keepMemoryTight,
  setLogSink,
  type BuildInfo,
  type DeviceInfo,
  type NativeStats,
} from "./native.ts";
export { applyChatTemplate, Processor, TemplateMessage } from "./processor.ts";
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
export type { ToolCallDelta } from "./reply-reader.ts";
export { ResponseFormat, wholeGrammar } from "./response-format.ts";
export { Limits, Sampling } from "./sampling.ts";
export type { SessionTool, SessionToolContext } from "./session-tools.ts";
export { ChatTemplateOptions, Tokenizer, type EncodeOptions } from "./tokenizer.ts";
export { Tool } from "./tools.ts";
export { isReadableByOthers } from "./workers/worker-key.ts";
export type { OfferedDevice } from "./workers/hello.ts";
export { WorkerHost, type WorkerEvent, type WorkerHostOptions } from "./workers/worker-host.ts";
export {
  makeWorkerKey,
  parseWorkerKey,
  readWorkerKey,
  saveWorkerKey,
  workerKeyFile,
  type WorkerKey,
} from "./workers/worker-key.ts";
export { RpcOptions, workerDevices } from "./workers/worker-pool.ts";
