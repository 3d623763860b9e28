// Sends requests: address, headers, retries, errors. Everything the client asks a server goes through here.
import { errorOfAnswer, parseJson, unexpectedAnswer } from "./answer.ts";
import { IngleError } from "./errors.ts";
import { Exchange } from "./exchange.ts";
import { isWorthRetrying, retryDelayMs } from "./retry.ts";
import type { Clock } from "./retry.ts";

/** What a transport stands on; every value is decided. */
export interface TransportOptions {
  /** Where the server is, without a slash at the end. */
  serverUrl: string;
  apiKey: string | undefined;
  headers: Readonly<Record<string, string>>;
  fetch: typeof fetch;
  maxRetries: number;
  timeoutMs: number;
  clock: Clock;
}

/** What every call takes beside its body. */
export interface CallOptions {
  /** Ends the call, which then rejects with the signal's reason; the server stops working on it. */
  signal?: AbortSignal | undefined;
}

/** One request to the API. */
export interface ApiRequest extends CallOptions {
  method: "GET" | "POST";
  /** From the server's address on, such as `/v1/models`. */
  path: string;
  /** Sent as JSON. */
  body?: object;
  /** A question about the server's state: asked once, and 503 is an answer to it. */
  isProbe?: boolean;
}

/** An answer that is still coming in. */
interface OpenAnswer {
  response: Response;
  exchange: Exchange;
}

/** An event stream that has begun. */
export interface OpenStream {
  /** The rest of it; whoever takes it reads it to its end or closes it. */
  exchange: Exchange;
  /** The answer's `x-request-id`, when the server sent one. */
  requestId: string | null;
}

/**
 * The two ways to ask, which all parts of the API stand on. Both retry and both reject with the errors of errors.ts or the
 * signal's reason.
 */
export interface Transport {
  /** Resolves with the JSON answer once `isExpected` has recognised it. */
  json<Body>(request: ApiRequest, isExpected: (body: unknown) => body is Body): Promise<Body>;
  /** Resolves with the head of a successful event stream; from there on nothing is retried. */
  stream(request: ApiRequest): Promise<OpenStream>;
}

/**
 * The address of the server, without a slash at its end: `baseUrl` may or may not end in `/v1` or a slash.
 * @throws IngleError when it is no http or https address.
 */
export function serverUrlOf(baseUrl: string): string {
  if (!URL.canParse(baseUrl) || !/^https?:$/.test(new URL(baseUrl).protocol)) {
    throw new IngleError(`baseUrl must be an address such as http://127.0.0.1:1337, not "${baseUrl}"`);
  }
  const { origin, pathname } = new URL(baseUrl);
  return `${origin}${pathname.replace(/\/+$/, "").replace(/\/v1$/, "")}`;
}

/**
 * Makes a transport.
 * @throws IngleError when the key, or one of the headers, cannot stand in a request.
 */
export function createTransport(options: TransportOptions): Transport {
  const { apiKey, clock } = options;
  if (apiKey !== undefined && !/^[\x21-\x7e]+$/.test(apiKey)) {
    throw new IngleError("apiKey must be visible ASCII characters without spaces");
  }
  const headers = checkedHeaders(options.headers);

  async function open(request: ApiRequest): Promise<OpenAnswer> {
    const init = requestInit(request, { apiKey, headers });
    const exchange = new Exchange({ timeoutMs: options.timeoutMs, signal: request.signal });
    const response = await exchange.send((signal) =>
      options.fetch(`${options.serverUrl}${request.path}`, { ...init, signal }),
    );
    const isAnswer = response.ok || (request.isProbe === true && response.status === 503);
    if (isAnswer) return { response, exchange };
    throw errorOfAnswer(response, await exchange.text(), clock.now());
  }

  async function retrying<Value>(
    { signal, isProbe }: ApiRequest,
    attempt: () => Promise<Value>,
  ): Promise<Value> {
    const maxRetries = isProbe === true ? 0 : options.maxRetries;
    for (let retry = 0; ; retry += 1) {
      signal?.throwIfAborted();
      try {
        return await attempt();
      } catch (error) {
        if (retry >= maxRetries || !isWorthRetrying(error)) throw error;
        await clock.delay(retryDelayMs(retry, error, clock), { signal });
      }
    }
  }

  return {
    json: (request, isExpected) =>
      retrying(request, async () => {
        const { response, exchange } = await open(request);
        const text = await exchange.text();
        const body = parseJson(text);
        if (isExpected(body)) return body;
        throw response.ok
          ? unexpectedAnswer(response, clock.now())
          : errorOfAnswer(response, text, clock.now());
      }),
    stream: (request) =>
      retrying(request, async () => {
        const { response, exchange } = await open(request);
        if (isEventStream(response)) return { exchange, requestId: response.headers.get("x-request-id") };
        exchange.close();
        throw unexpectedAnswer(response, clock.now());
      }),
  };
}

function requestInit(
  { method, body }: ApiRequest,
  { apiKey, headers: given }: { apiKey: string | undefined; headers: Headers },
): RequestInit {
  const headers = new Headers(given);
  headers.set("accept", "application/json, text/event-stream");
  if (apiKey !== undefined) headers.set("authorization", `Bearer ${apiKey}`);
  if (body === undefined) return { method, headers };
  headers.set("content-type", "application/json");
  return { method, headers, body: JSON.stringify(body) };
}

function checkedHeaders(given: TransportOptions["headers"]): Headers {
  try {
    return new Headers({ ...given });
  } catch (cause) {
    throw new IngleError("headers must have names and values that can stand in an HTTP request", { cause });
  }
}

function isEventStream(response: Response): boolean {
  return (response.headers.get("content-type") ?? "").toLowerCase().startsWith("text/event-stream");
}
