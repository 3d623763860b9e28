// The client of a server: how to reach it, and all parts of the API together. For Node and the browser.
import { createChatCompletions } from "./chat.ts";
import type { ChatCompletions } from "./chat.ts";
import { createCompletions } from "./completions.ts";
import type { Completions } from "./completions.ts";
import { createEmbeddings } from "./embeddings.ts";
import type { Embeddings } from "./embeddings.ts";
import { createEvents } from "./events.ts";
import type { Events } from "./events.ts";
import { createJobs } from "./jobs.ts";
import type { Jobs } from "./jobs.ts";
import { createLibrary } from "./library.ts";
import type { Library } from "./library.ts";
import { createMachine } from "./machine.ts";
import type { MachineState } from "./machine.ts";
import { createModels } from "./models.ts";
import type { Models } from "./models.ts";
import { createRequests } from "./requests.ts";
import type { Requests } from "./requests.ts";
import { createResponses } from "./responses.ts";
import type { Responses } from "./responses.ts";
import { systemClock } from "./retry.ts";
import type { Clock } from "./retry.ts";
import { createServerControl } from "./server-control.ts";
import type { ServerControls } from "./server-control.ts";
import { createServerState } from "./server-state.ts";
import type { ServerState } from "./server-state.ts";
import { createSession } from "./session.ts";
import type { Sessions } from "./session.ts";
import { createDetokenize, createTokenize } from "./tokens.ts";
import type { Detokenize, Tokenize } from "./tokens.ts";
import { createTransport, serverUrlOf } from "./transport.ts";
import type { Transport } from "./transport.ts";

/** Where a desktop server listens unless it is told otherwise. */
const defaultBaseUrl = "http://127.0.0.1:1337";

/** Node's own fetch gives up after 300 s of silence with an unclear error; ours comes first and says what happened. */
const defaultTimeoutMs = 240_000;

const defaultMaxRetries = 2;

/** How a client reaches its server. */
export interface IngleOptions {
  /** The server's address, with or without `/v1`. Default: `http://127.0.0.1:1337`. */
  baseUrl?: string | undefined;
  /** Sent as bearer token. A server without keys needs none. */
  apiKey?: string | undefined;
  /**
   * Sent with every request: `{ "x-session-id": id }` keeps a conversation on one of several servers behind a proxy, and so its
   * cached prefix in reach. Those that this client sets itself (`accept`, `authorization`, `content-type`) cannot be replaced.
   */
  headers?: Readonly<Record<string, string>> | undefined;
  /** Used instead of the global `fetch`. */
  fetch?: typeof fetch | undefined;
  /** How often a request is tried again after a broken connection, 408, 409, 429 or 5xx. Default: 2. */
  maxRetries?: number | undefined;
  /**
   * Longest silence of the server in milliseconds; a reply that is not streamed is silent until it is whole.
   * Default: 240,000. `Infinity` waits for ever, as far as `fetch` does.
   */
  timeoutMs?: number | undefined;
  /** Time and chance, for tests. */
  clock?: Clock | undefined;
}

/**
 * The way to a server, for a program that wants single parts of the API and not the code of the others:
 * `createChatCompletions(connect({ baseUrl }))`. It holds no connection of its own and needs no closing.
 * @throws IngleError when `baseUrl` is no http or https address, or `apiKey` cannot stand in a header.
 */
export function connect(options: IngleOptions = {}): Transport {
  return createTransport({
    serverUrl: serverUrlOf(options.baseUrl ?? defaultBaseUrl),
    apiKey: options.apiKey,
    headers: options.headers ?? {},
    // Called by its global name: a browser refuses to run fetch as another object's method.
    fetch: options.fetch ?? ((input, init) => fetch(input, init)),
    maxRetries: options.maxRetries ?? defaultMaxRetries,
    timeoutMs: options.timeoutMs ?? defaultTimeoutMs,
    clock: options.clock ?? systemClock,
  });
}

/** A client: all parts of the API. It holds no connection of its own and needs no closing. */
export class Ingle {
  readonly chat: { readonly completions: ChatCompletions };
  readonly responses: Responses;
  readonly completions: Completions;
  readonly embeddings: Embeddings;
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

  /** @throws IngleError when `baseUrl` is no http or https address, or `apiKey` or one of `headers` cannot stand in a request. */
  constructor(options: IngleOptions = {}) {
    const transport = connect(options);
    this.chat = { completions: createChatCompletions(transport) };
    this.responses = createResponses(transport);
    this.completions = createCompletions(transport);
    this.embeddings = createEmbeddings(transport);
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
  }
}
