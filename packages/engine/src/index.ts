// The public names of @ingle/engine.
export { ChatSession, type ChatSessionOptions } from "./chat-session.ts";
export type { EmbeddingInput, EmbeddingResult, EmbedOptions } from "./embeddings.ts";
export { EngineError, type EngineErrorCode, type EngineErrorDetails } from "./errors.ts";
export { generate, streamGenerate, type GenerateParameters } from "./generate.ts";
export {
  Generation,
  type FinishReason,
  type GenerationChunk,
  type GenerationResult,
  type GenerationTimings,
  type TokenLogprobs,
  type Usage,
} from "./generation.ts";
export { GenerationRequest, checkGenerationRequest } from "./generation-request.ts";
export { ensureStarterModel, type EnsureModelOptions } from "./library/get-model.ts";
export type { NpmModel } from "./library/npm-model.ts";
export { libraryPaths, type LibraryPaths } from "./library/paths.ts";
export type { LibraryProgress } from "./library/progress.ts";
export { starterModel } from "./library/starter.ts";
export { LoadOptions, load, parallelMax, type LoadedModel } from "./load.ts";
export { Message, ToolCall } from "./messages.ts";
export { Model, type GenerateOptions, type ModelInfo } from "./model.ts";
export { buildInfo, setLogSink, type BuildInfo, type DeviceInfo, type NativeStats } from "./native.ts";
export type { ToolCallDelta } from "./reply-reader.ts";
export { ResponseFormat } from "./response-format.ts";
export { Limits, Sampling } from "./sampling.ts";
export { ChatTemplateOptions, Tokenizer, type EncodeOptions } from "./tokenizer.ts";
export { Tool } from "./tools.ts";
