// The public names of @ingle/protocol.
export {
  ContentBlock,
  AnthropicMessage,
  MessageStreamEvent,
  MessageUsage,
  StopReason,
  TokenCount,
} from "./anthropic/answer.ts";
export type { ContentDelta } from "./anthropic/answer.ts";
export { MessageParam } from "./anthropic/blocks.ts";
export type { ToolResultBlock } from "./anthropic/blocks.ts";
export { AnthropicModel, AnthropicModelList, modelsPageMax, ModelsQuery } from "./anthropic/models.ts";
export { CountTokensRequest, MessagesRequest } from "./anthropic/request.ts";
export { isCustomTool } from "./anthropic/tools.ts";
export { AnthropicErrorBody, anthropicErrorBody, anthropicErrorTypes } from "./anthropic-errors.ts";
export { ChatCompletion, ChatCompletionChunk, ChatCompletionRequest, FinishReason } from "./chat.ts";
export type { ChatCompletionBody } from "./chat.ts";
export {
  Completion,
  CompletionChunk,
  completionLogprobsMax,
  CompletionFinishReason,
  CompletionLogprobs,
  CompletionRequest,
  completionTokensDefault,
} from "./completions.ts";
export type { CompletionBody } from "./completions.ts";
export {
  Embedding,
  embeddingInputsMax,
  Embeddings,
  EmbeddingsRequest,
  embeddingTokensMax,
  EmbeddingsUsage,
} from "./embeddings.ts";
export type { EmbeddingsBody } from "./embeddings.ts";
export {
  LoadRequest,
  ManagedModel,
  ManagedModelList,
  ManagedModelStatus,
  ModelCapability,
  ModelMemory,
  UnloadRequest,
  PinRequest,
  ServerState,
} from "./control.ts";
export { ErrorBody, errorBody, isWireErrorCode, wireErrors } from "./errors.ts";
export type { ErrorBodyDetails, WireErrorCode, WireErrorType } from "./errors.ts";
export {
  ChatMessage,
  ContentPart,
  ImagePart,
  imageUrlLengthMax,
  messagesMax,
  nameLengthMax,
  partsMax,
  partsOfAllMax,
  TextPart,
  textLengthMax,
  ToolCall,
  toolCallsMax,
} from "./messages.ts";
export { Liveness, Readiness } from "./health.ts";
export { KvBits } from "./kv-bits.ts";
export {
  aliasLengthMax,
  AliasRequest,
  DescribeQuery,
  FoundRepositories,
  FoundRepository,
  ModelAliases,
  OfferedModel,
  OfferedRepository,
  PullEvent,
  PullRequest,
  RecommendedModel,
  RemovedModel,
  RemoveRequest,
  repoLengthMax,
  searchLengthMax,
  SearchQuery,
  searchResultsMax,
  UnaliasRequest,
} from "./library.ts";
export { Job, JobKind, JobList, JobActionRequest, JobRequest, jobsMax, JobStatus } from "./jobs.ts";
export {
  KeepBodiesRequest,
  finishedRequestsMax,
  keptBodiesLengthMax,
  keptBodiesMax,
  keptBodyLengthMax,
  KeptBodies,
  LiveEvent,
  LiveFigures,
  LiveRequest,
  LogLine,
  logLinesMax,
  CancelRequest,
} from "./live.ts";
export { EstimateRequest, Machine, MachineDevice, MemoryEstimate } from "./machine.ts";
export { ModelEntry, ModelList } from "./models.ts";
export { firstIssue } from "./problem.ts";
export type { RequestIssue } from "./problem.ts";
export { CompletionPrompt, completionsMax, promptsOf, tokensMax } from "./prompts.ts";
export { logitBiasMax, repeatLastNMax, stopLengthMax, stopsMax } from "./sampling.ts";
export type { SamplingRequest } from "./sampling.ts";
export { choicesMax, modelLengthMax, userLengthMax } from "./request-fields.ts";
export { ChoiceLogprobs, TokenLogprob, topLogprobsMax } from "./logprobs.ts";
export { ignoredFieldsOf } from "./ignored.ts";
export { grammarLengthMax, ResponseFormat } from "./response-format.ts";
export {
  ResponseObject,
  ResponsesOutputItem,
  ResponsesOutputText,
  ResponsesReasoningText,
  ResponsesUsage,
} from "./responses/answer.ts";
export { ResponsesEvent } from "./responses/events.ts";
export { ResponsesContentPart, ResponsesInput, ResponsesInputItem } from "./responses/input.ts";
export {
  includeMax,
  logprobsIncludable,
  metadataMax,
  metadataNameMax,
  metadataValueMax,
  ResponsesRequest,
} from "./responses/request.ts";
export type { ResponsesBody } from "./responses/request.ts";
export {
  isFunctionTool,
  ResponsesTextFormat,
  ResponsesTool,
  ResponsesToolChoice,
} from "./responses/tools.ts";
export {
  keyNameLengthMax,
  keysMax,
  KeyScopeName,
  namesMax,
  NewServerKey,
  ServerControl,
  ServerKey,
  ServerKeyList,
  RevokeKeyRequest,
  ServerKeyRequest,
  ServerActionRequest,
  ServerSettings,
  ServerSettingsChange,
  ServerStatus,
  Session,
  SessionRequest,
} from "./server-control.ts";
export { templateKwargsMax } from "./thinking.ts";
export type { ReasoningEffort } from "./thinking.ts";
export { RenderedPrompt, RenderedPrompts } from "./rendering.ts";
export { Detokenization, DetokenizeRequest, Tokenization, TokenizeRequest, TokenPiece } from "./tokenize.ts";
export type { DetokenizeBody, TokenizeBody } from "./tokenize.ts";
export { Tool, toolsMax } from "./tools.ts";
export { Timings, Usage } from "./usage.ts";
