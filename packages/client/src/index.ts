// The public names of @ingle/client.
export { ChatStream } from "./chat-stream.ts";
export type { ReplyMessage, StreamedCompletion } from "./chat-stream.ts";
export { createChatCompletions } from "./chat.ts";
export type { ChatCompletions, ChatMessage, ParseBody, ParsedReply } from "./chat.ts";
export { connect, Ingle } from "./client.ts";
export type { IngleOptions } from "./client.ts";
export { CompletionStream } from "./completion-stream.ts";
export type { StreamedTextCompletion } from "./completion-stream.ts";
export { createCompletions } from "./completions.ts";
export type { Completions } from "./completions.ts";
export type { CreateReply } from "./calls.ts";
export { createEmbeddings } from "./embeddings.ts";
export type { EmbeddingList, Embeddings } from "./embeddings.ts";
export { createRerank } from "./rerank.ts";
export type { Rerank } from "./rerank.ts";
export {
  ApiError,
  ConnectionError,
  IngleError,
  ParseError,
  StreamError,
  TimeoutError,
  ToolRoundsError,
} from "./errors.ts";
export type { ParseErrorCode, SchemaIssue } from "./errors.ts";
export { createEvents, createRequests, LiveEventStream } from "./events.ts";
export type { Events, Requests } from "./events.ts";
export { imageUrl } from "./image-url.ts";
export type { ImageSource } from "./image-url.ts";
export { createJobs } from "./models.ts";
export type { Jobs } from "./models.ts";
export { createLibrary, PullStream } from "./library.ts";
export type { EstimateOptions, Library, LoadOptions, WaitOptions } from "./library.ts";
export { createChats } from "./chats.ts";
export type { Chats } from "./chats.ts";
export { createMcp } from "./mcp.ts";
export type { McpTools } from "./mcp.ts";
export { createModels } from "./models.ts";
export type { Models } from "./models.ts";
export type { ReplyStream } from "./reply-stream.ts";
export { createResponses, outputText, ResponseStream } from "./responses.ts";
export type { Responses } from "./responses.ts";
export type { Clock } from "./retry.ts";
export { runTools, tool } from "./run-tools.ts";
export type { RunnableTool, RunToolsOptions, ToolContext, ToolOptions, ToolRun } from "./run-tools.ts";
export { withJsonSchema } from "./schema.ts";
export type { JsonSchema, StandardSchema, ValueSchema } from "./schema.ts";
export { createServerControl } from "./server.ts";
export type { ServerControls } from "./server.ts";
export { createMachine, createServerState } from "./server.ts";
export type { MachineState, ServerReadiness, ServerState } from "./server.ts";
export { createSession } from "./server.ts";
export type { Sessions } from "./server.ts";
export { jsonFormat, parseReply } from "./structured.ts";
export type { FormatOptions } from "./structured.ts";
export { createDetokenize, createTokenize } from "./tokens.ts";
export type { Detokenize, Tokenize, TokenList } from "./tokens.ts";
export type { CallOptions, Transport } from "./transport.ts";
export type {
  ChatCompletion,
  ChatCompletionBody,
  ChatCompletionChunk,
  Completion,
  CompletionBody,
  CompletionChunk,
  Detokenization,
  DetokenizeBody,
  EmbeddingsBody,
  FinishReason,
  FoundRepositories,
  FoundRepository,
  Job,
  JobKind,
  JobList,
  JobRequest,
  JobStatus,
  LiveEvent,
  LiveFigures,
  KeptBodies,
  Liveness,
  LiveRequest,
  LogLine,
  Machine,
  MachineDevice,
  ManagedModel,
  ManagedModelList,
  MemoryEstimate,
  ModelAliases,
  ModelCapability,
  ModelEntry,
  ModelList,
  NewServerKey,
  OfferedModel,
  OfferedRepository,
  PullEvent,
  RecommendedModel,
  RemovedModel,
  ResponseObject,
  ResponsesBody,
  ResponsesEvent,
  ServerControl,
  ServerKey,
  RerankBody,
  Reranking,
  ServerKeyList,
  ServerKeyRequest,
  ServerSettings,
  ServerSettingsChange,
  ServerStatus,
  Session,
  Timings,
  TokenizeBody,
  TokenPiece,
  Usage,
} from "@ingle/protocol";
