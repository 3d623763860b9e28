// Sends all requests of the client: address, headers, retries, errors.
import { IngleError } from "./errors.ts";
import { Exchange } from "./exchange.ts";
import { errorOfResponse, parseJson, unexpectedResponse } from "./response-body.ts";
import { isWorthRetrying, retryDelayMs } from "./retry.ts";
import type { Clock } from "./retry.ts";

/** `IngleOptions` with all defaults filled in. */
interface TransportOptions {
  /** The server's address, without a slash at the end. */
  serverUrl: string;
  apiKey: string | undefined;
  headers: Readonly<Record<string, string>>;
  fetch: typeof fetch;
  maxRetries: number;
  timeoutMs: number;
  clock: Clock;
}

/** The options of every call. */
export interface CallOptions {
  /** Cancels the call, which then rejects with the signal's reason; the server stops working on it. */
  signal?: AbortSignal | undefined;
}

interface ApiRequest extends CallOptions {
  method: "GET" | "POST" | "PUT";
  /** The path after the server's address, such as `/v1/models`. */
  path: string;
  /** Sent as JSON. */
  body?: object;
  /** Whether this is a probe of the server's state: it is not retried, and 503 is a valid response. */
  isProbe?: boolean;
  /** Whether it must not be sent twice and may be silent for as long as it takes: it is not retried, and `timeoutMs` does not apply. */
  runsOnce?: boolean;
}

/** A response whose body has not been read. */
interface OpenResponse {
  response: Response;
  exchange: Exchange;
}

/** An event stream that has started. */
export interface OpenStream {
  /** The unread rest; its new owner must read it to the end or close it. */
  exchange: Exchange;
  /** The response's `x-request-id`, if the server sent one. */
  requestId: string | null;
}

/** The requests of all parts of the API. Both kinds are retried, and reject with the errors of errors.ts or the signal's reason. */
export interface Transport {
  /** Resolves with the JSON response if `isExpected` accepts it. */
  json<Body>(request: ApiRequest, isExpected: (body: unknown) => body is Body): Promise<Body>;
  /** Resolves when a successful event stream starts; nothing is retried after that. */
  stream(request: ApiRequest): Promise<OpenStream>;
}

/**
 * The address of the server, without a slash at the end. `baseUrl` may end in `/v1` or a slash.
 * @throws IngleError if it is not an http or https address.
 */
export function toServerUrl(baseUrl: string): string {
  if (!URL.canParse(baseUrl) || !/^https?:$/.test(new URL(baseUrl).protocol)) {
    throw new IngleError(`baseUrl must be an address such as http://127.0.0.1:1337, not "${baseUrl}"`);
  }
  const { origin, pathname } = new URL(baseUrl);
  return `${origin}${pathname.replace(/\/+$/, "").replace(/\/v1$/, "")}`;
}

/** @throws IngleError if the key or one of the headers is not valid in a request. */
export function createTransport(options: TransportOptions): Transport {
  const { apiKey, clock } = options;
  if (apiKey !== undefined && !/^[\x21-\x7e]+$/.test(apiKey)) {
    throw new IngleError("apiKey must be visible ASCII characters without spaces");
  }
  const headers = checkedHeaders(options.headers);

  async function open(request: ApiRequest): Promise<OpenResponse> {
    const init = requestInit(request, { apiKey, headers });
    const exchange = new Exchange({
      timeoutMs: request.runsOnce === true ? Number.POSITIVE_INFINITY : options.timeoutMs,
      signal: request.signal,
    });
    const response = await exchange.send((signal) =>
      options.fetch(`${options.serverUrl}${request.path}`, { ...init, signal }),
    );
    const isSuccess = response.ok || (request.isProbe === true && response.status === 503);
    if (isSuccess) return { response, exchange };
    throw errorOfResponse(response, await exchange.text(), clock.now());
  }

  async function retrying<Value>(
    { signal, isProbe, runsOnce }: ApiRequest,
    attempt: () => Promise<Value>,
  ): Promise<Value> {
    const maxRetries = isProbe === true || runsOnce === true ? 0 : options.maxRetries;
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
          ? unexpectedResponse(response, clock.now())
          : errorOfResponse(response, text, clock.now());
      }),
    stream: (request) =>
      retrying(request, async () => {
        const { response, exchange } = await open(request);
        if (isEventStream(response)) return { exchange, requestId: response.headers.get("x-request-id") };
        exchange.close();
        throw unexpectedResponse(response, clock.now());
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
    throw new IngleError("headers must have names and values that are valid in an HTTP request", { cause });
  }
}

function isEventStream(response: Response): boolean {
  return (response.headers.get("content-type") ?? "").toLowerCase().startsWith("text/event-stream");
}
