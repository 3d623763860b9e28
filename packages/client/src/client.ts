// The client, for Node and the browser: its options, and all parts of the API.
import { createChatCompletions, type ChatCompletions } from "./chat.ts";
import { createCompletions, type Completions } from "./completions.ts";
import { createEmbeddings, type Embeddings } from "./embeddings.ts";
import { createEvents, createRequests, type Events, type Requests } from "./events.ts";
import { createLibrary, type Library } from "./library.ts";
import { createChats, type Chats } from "./chats.ts";
import { createMcp, type McpTools } from "./mcp.ts";
import { createJobs, type Jobs, createModels, type Models } from "./models.ts";
import { createRerank, type Rerank } from "./rerank.ts";
import { createResponses, type Responses } from "./responses.ts";
import { systemClock, type Clock } from "./retry.ts";
import {
  createServerControl,
  type ServerControls,
  createMachine,
  createServerState,
  type MachineState,
  type ServerState,
  createSession,
  type Sessions,
} from "./server.ts";
import { createDetokenize, createTokenize, type Detokenize, type Tokenize } from "./tokens.ts";
import { createTransport, toServerUrl, type Transport } from "./transport.ts";

/** The default address of a desktop server. */
const defaultBaseUrl = "http://127.0.0.1:1337";

/** Node's fetch fails after 300 s of silence with an unclear error; this limit comes first, with a clear one. */
const defaultTimeoutMs = 240_000;

const defaultMaxRetries = 2;

export interface IngleOptions {
  /** The server's address, with or without `/v1`. Default: `http://127.0.0.1:1337`. */
  baseUrl?: string | undefined;
  /** Sent as a bearer token. A server without keys needs none. */
  apiKey?: string | undefined;
  /**
   * Sent with every request: `{ "x-session-id": id }` keeps a conversation on one of several servers behind a proxy, where its
   * prefix is cached. The headers that the client sets itself (`accept`, `authorization`, `content-type`) cannot be replaced.
   */
  headers?: Readonly<Record<string, string>> | undefined;
  /** Used instead of the global `fetch`. */
  fetch?: typeof fetch | undefined;
  /** Maximum number of retries per request after a broken connection, 408, 409, 429 or 5xx. Default: 2. */
  maxRetries?: number | undefined;
  /**
   * How long the server may be silent, in milliseconds; without streaming, it is silent until the reply is complete.
   * Default: 240,000. `Infinity` waits as long as `fetch` does.
   */
  timeoutMs?: number | undefined;
  /** Time and random numbers, for tests. */
  clock?: Clock | undefined;
}

/**
 * The connection settings for a program that uses single parts of the API, without the code of the others:
 * `createChatCompletions(connect({ baseUrl }))`. It keeps no connection open and needs no closing.
 * @throws IngleError if `baseUrl` is not an http or https address, or `apiKey` or one of `headers` is not valid in a request.
 */
export function connect(options: IngleOptions = {}): Transport {
  return createTransport({
    serverUrl: toServerUrl(options.baseUrl ?? defaultBaseUrl),
    apiKey: options.apiKey,
    headers: options.headers ?? {},
    // A browser refuses to call fetch as a method of another object.
    fetch: options.fetch ?? ((input, init) => fetch(input, init)),
    maxRetries: options.maxRetries ?? defaultMaxRetries,
    timeoutMs: options.timeoutMs ?? defaultTimeoutMs,
    clock: options.clock ?? systemClock,
  });
}

/** A client with all parts of the API. It keeps no connection open and needs no closing. */
export class Ingle {
  readonly chat: { readonly completions: ChatCompletions };
  readonly responses: Responses;
  readonly completions: Completions;
  readonly embeddings: Embeddings;
  readonly rerank: Rerank;
  readonly models: Models;
  readonly library: Library;
  readonly tokenize: Tokenize;
  readonly detokenize: Detokenize;
  readonly server: ServerState;
  readonly jobs: Jobs;
  readonly machine: MachineState;
  readonly events: Events;
  readonly requests: Requests;
  readonly serverControl: ServerControls;
  readonly session: Sessions;
  readonly mcp: McpTools;
  readonly chats: Chats;

  /** @throws IngleError if `baseUrl` is not an http or https address, or `apiKey` or one of `headers` is not valid in a request. */
  constructor(options: IngleOptions = {}) {
    const transport = connect(options);
    this.chat = { completions: createChatCompletions(transport) };
    this.responses = createResponses(transport);
    this.completions = createCompletions(transport);
    this.embeddings = createEmbeddings(transport);
    this.rerank = createRerank(transport);
    this.models = createModels(transport);
    this.library = createLibrary(transport);
    this.tokenize = createTokenize(transport);
    this.detokenize = createDetokenize(transport);
    this.server = createServerState(transport);
    this.jobs = createJobs(transport);
    this.machine = createMachine(transport);
    this.events = createEvents(transport);
    this.requests = createRequests(transport);
    this.serverControl = createServerControl(transport);
    this.session = createSession(transport);
    this.mcp = createMcp(transport);
    this.chats = createChats(transport);
  }
}
