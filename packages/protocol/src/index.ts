// The public names of @ingle/protocol.
export {
  Transcription,
  TranscriptionEvent,
  transcriptionPromptLengthMax,
  TranscriptionRequest,
  TranscriptionUsage,
} from "./audio/transcription.ts";
export {
  Batch,
  batchErrorsMax,
  BatchError,
  BatchesQuery,
  batchesPageDefault,
  batchLinesMax,
  BatchList,
  BatchRequest,
  BatchStatus,
  BatchUsage,
  openBatchesMax,
} from "./batches/batch.ts";
export {
  DeletedFile,
  fileBytesMax,
  FileList,
  fileNameLengthMax,
  FileObject,
  FilePurpose,
  filesMax,
  filesPageMax,
  FilesQuery,
  FileUpload,
} from "./batches/file.ts";
export type { ReceivedFile } from "./batches/file.ts";
export { batchEndpoints, BatchLine, batchLineBytesMax, BatchResult } from "./batches/line.ts";
export type { BatchEndpoint } from "./batches/line.ts";
export {
  ChatCompletion,
  ChatCompletionChunk,
  ChatCompletionRequest,
  FinishReason,
} from "./chat/chat-completion.ts";
export { ChatControl, ChatControlRequest } from "./chat/control.ts";
export type { ChatCompletionBody } from "./chat/chat-completion.ts";
export { ChatMessage, ContentPart, ImagePart, ToolCall, toolCallsMax } from "./chat/messages.ts";
export { LoraUses } from "./fields/adapters.ts";
export {
  Completion,
  CompletionChunk,
  CompletionFinishReason,
  CompletionLogprobs,
  completionLogprobsMax,
  CompletionPrompt,
  CompletionRequest,
  completionsMax,
  completionTokensDefault,
  promptList,
} from "./completions.ts";
export type { CompletionBody } from "./completions.ts";
export { ResponsesEvent } from "./responses/events.ts";
export {
  inputItems,
  isUnseenItem,
  ResponsesContentPart,
  ResponsesInput,
  ResponsesInputItem,
} from "./responses/input.ts";
export {
  includeMax,
  logprobsIncludable,
  metadataMax,
  metadataNameMax,
  metadataValueMax,
  ResponsesRequest,
  storedIdLengthMax,
} from "./responses/request.ts";
export type { ResponsesBody } from "./responses/request.ts";
export {
  Conversation,
  ConversationChange,
  ConversationRequest,
  DeletedConversation,
  DeletedResponse,
  ItemList,
  itemsPageDefault,
  itemsPageMax,
  ItemsQuery,
  newItemsMax,
  ListedItem,
  NewItems,
  ResponseQuery,
} from "./responses/stored.ts";
export type { StoredItem } from "./responses/stored.ts";
export {
  InputTokenCount,
  ResponseObject,
  ResponseStatus,
  ResponsesOutputItem,
  ResponsesOutputText,
  ResponsesReasoningText,
  ResponsesUsage,
} from "./responses/response.ts";
export {
  isCallable,
  isNamespace,
  ResponsesCustomTool,
  ResponsesNamespace,
  ResponsesTextFormat,
  ResponsesTool,
  ResponsesToolChoice,
} from "./responses/tools.ts";
export { MessageParam, unseenBlocks } from "./anthropic/blocks.ts";
export type { ToolResultBlock } from "./anthropic/blocks.ts";
export {
  AnthropicErrorBody,
  anthropicErrorBody,
  AnthropicMessage,
  ContentBlock,
  MessageStreamEvent,
  MessageUsage,
  StopReason,
  TokenCount,
} from "./anthropic/message.ts";
export type { ContentDelta } from "./anthropic/message.ts";
export { CountTokensRequest, MessagesRequest } from "./anthropic/request.ts";
export { isCustomTool } from "./anthropic/tools.ts";
export {
  Embedding,
  embeddingInputsMax,
  Embeddings,
  EmbeddingsRequest,
  EmbeddingsUsage,
  embeddingTokensMax,
} from "./embeddings.ts";
export type { EmbeddingsBody } from "./embeddings.ts";
export { RerankRequest, Reranking, RerankScores } from "./rerank.ts";
export type { RerankBody } from "./rerank.ts";
export {
  Detokenization,
  DetokenizeRequest,
  RenderedPrompt,
  RenderedPrompts,
  Tokenization,
  TokenizeRequest,
  TokenPiece,
} from "./tokenize.ts";
export type { DetokenizeBody, TokenizeBody } from "./tokenize.ts";
export {
  AnthropicModel,
  AnthropicModelList,
  ModelCapability,
  ModelEntry,
  ModelList,
  modelsPageMax,
  ModelsQuery,
} from "./models.ts";
export {
  LlamaServerCompletionRequest,
  LlamaServerEmbeddingRequest,
  LlamaServerInfillRequest,
  LlamaServerSlotRequest,
  LlamaServerTemplateRequest,
  LlamaServerTokenizeRequest,
} from "./llama-server/request.ts";
export type { LlamaServerGeneration } from "./llama-server/request.ts";
export type { LlamaServerPrompt } from "./llama-server/prompt.ts";
export {
  LlamaServerChunk,
  LlamaServerCompletion,
  LlamaServerEmbeddings,
  LlamaServerError,
  LlamaServerModels,
  LlamaServerProps,
  LlamaServerSettings,
  LlamaServerAdapters,
  LlamaServerSlotChange,
  LlamaServerSlots,
  LlamaServerTemplate,
} from "./llama-server/response.ts";
export type { LlamaServerProbability, LlamaServerTimings } from "./llama-server/response.ts";
export {
  AudioFormat,
  AudioPart,
  imageUrlLengthMax,
  messagesMax,
  nameLengthMax,
  partsMax,
  partsOfAllMax,
  textLengthMax,
  TextPart,
} from "./fields/content.ts";
export { findIgnoredFields } from "./fields/ignored-fields.ts";
export { ChoiceLogprobs, TokenLogprob, topLogprobsMax } from "./fields/logprobs.ts";
export { choicesMax, modelLengthMax, userLengthMax } from "./fields/request-fields.ts";
export { ResponseFormat } from "./fields/response-format.ts";
export { grammarLengthMax, StructuredOutputs } from "./fields/structured-outputs.ts";
export { PromptProgress } from "./fields/report-fields.ts";
export type { SamplingRequest } from "./fields/sampling.ts";
export { templateKwargsMax } from "./fields/template-fields.ts";
export type { ReasoningEffort } from "./fields/template-fields.ts";
export { tokensMax } from "./fields/size-precheck.ts";
export { Tool, toolsMax } from "./fields/tools.ts";
export { Timings, Usage } from "./usage.ts";
export {
  anthropicErrorType,
  ErrorBody,
  errorBody,
  isFinalError,
  isWireErrorCode,
  wireErrors,
} from "./errors.ts";
export type { ErrorBodyDetails, WireErrorCode } from "./errors.ts";
export { firstIssue } from "./request-issue.ts";
export type { RequestIssue } from "./request-issue.ts";
export {
  CancelRequest,
  finishedRequestsMax,
  KeepBodiesRequest,
  KeptBodies,
  keptBodiesLengthMax,
  keptBodiesMax,
  keptBodyLengthMax,
  LiveEvent,
  LiveFigures,
  LiveRequest,
  LogLine,
  logLinesMax,
} from "./management/events.ts";
export {
  ChatChange,
  chatChangesMax,
  ChatChangesRequest,
  ChatChangesResult,
  ChatEvent,
  ChatNote,
  ChatNoteResult,
  ChatRecord,
  ChatRecordKind,
  chatRecordLengthMax,
  ChatRecordList,
  ChatRecordQuery,
  ChatRecordsQuery,
} from "./management/chats.ts";
export {
  Job,
  JobActionRequest,
  JobKind,
  JobList,
  JobRequest,
  jobsMax,
  JobStatus,
} from "./management/jobs.ts";
export {
  BrowserChallenge,
  BrowserKey,
  ForgetBrowserRequest,
  KnownBrowser,
  ReturnRequest,
  returnText,
} from "./management/known-browsers.ts";
export {
  McpApproval,
  McpCallRequest,
  McpCallResult,
  McpServer,
  McpServerList,
  McpServerRequest,
  McpTool,
} from "./management/mcp.ts";
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
} from "./management/library.ts";
export {
  EstimateRequest,
  LoadRequest,
  ManagedModel,
  ManagedModelList,
  ManagedModelStatus,
  MemoryEstimate,
  ModelMemory,
  PinRequest,
  UnloadRequest,
} from "./management/models.ts";
export {
  ModelSettings,
  ModelSettingsFile,
  ModelSettingsState,
  ReplyDefaults,
} from "./management/model-settings.ts";
export {
  keyNameLengthMax,
  KeyScopeName,
  KeyTerms,
  KeyUsage,
  keysMax,
  namesMax,
  NewServerKey,
  RevokeKeyRequest,
  ServerActionRequest,
  ServerControl,
  ServerKey,
  ServerKeyList,
  ServerKeyRequest,
  ServerSettings,
  ServerSettingsChange,
  ServerStatus,
  Session,
  SessionRequest,
} from "./management/server.ts";
export { Liveness, Machine, MachineDevice, Readiness, ServerState } from "./management/state.ts";
export { LmStudioChatEvent, LmStudioChatRequest, LmStudioChatResponse } from "./lm-studio/chat.ts";
export type { LmStudioInputItem, LmStudioOutputItem } from "./lm-studio/chat.ts";
export {
  LmStudioChatCompletion,
  LmStudioChatCompletionChunk,
  LmStudioChatCompletionRequest,
  LmStudioCompletion,
  LmStudioCompletionChunk,
  LmStudioCompletionRequest,
} from "./lm-studio/completions.ts";
export type { LmStudioPerformance, LmStudioStopReason } from "./lm-studio/completions.ts";
export {
  LmStudioDownload,
  LmStudioDownloadRequest,
  LmStudioError,
  LmStudioLoadedModel,
  LmStudioLoadRequest,
  LmStudioManagedModelList,
  LmStudioUnloadedModel,
  LmStudioUnloadRequest,
} from "./lm-studio/models.ts";
export type { LmStudioListedModel, LmStudioLoadConfig } from "./lm-studio/models.ts";
export { LmStudioModel, LmStudioModels } from "./lm-studio/models.ts";
export { OllamaDeleteRequest, OllamaPullRequest, OllamaShowRequest } from "./ollama/models.ts";
export { ignoredOllamaOptions, OllamaOptions } from "./ollama/options.ts";
export {
  OllamaChatRequest,
  OllamaEmbeddingsRequest,
  OllamaEmbedRequest,
  OllamaGenerateRequest,
} from "./ollama/request.ts";
export type { OllamaMessage } from "./ollama/request.ts";
export {
  OllamaChatReply,
  OllamaEmbeddingsReply,
  OllamaEmbedReply,
  OllamaError,
  OllamaGenerateReply,
  OllamaModelInfo,
  OllamaModels,
  OllamaProgress,
  OllamaRunningModels,
  OllamaVersion,
} from "./ollama/response.ts";
export type { OllamaDetails, OllamaLogprob, OllamaToolCall, OllamaTotals } from "./ollama/response.ts";
export { KvBits } from "./kv-bits.ts";
