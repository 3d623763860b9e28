// Sends requests: address, headers, retries, errors. Everything the client asks a server goes through here.
import { errorOfAnswer, parseJson, unexpectedAnswer } from "./answer.ts";
import { IngleError } from "./errors.ts";
import { Exchange } from "./exchange.ts";
import { isWorthRetrying, retryDelayMs } from "./retry.ts";
import type { Clock } from "./retry.ts";

/** What a transport stands on; every value is decided. */
export interface TransportOptions {
  /** Where the endpoints are, ending in `/v1`. */
  apiUrl: string;
  apiKey: string | undefined;
  fetch: typeof fetch;
  maxRetries: number;
  timeoutMs: number;
  clock: Clock;
}

/** One request to the API. */
export interface ApiRequest {
  method: "GET" | "POST";
  /** Below `/v1`, with its leading slash. */
  path: string;
  /** Sent as JSON. */
  body?: object;
  signal?: AbortSignal | undefined;
}

/** An answer that is still coming in. */
export interface OpenAnswer {
  response: Response;
  exchange: Exchange;
}

/** The two ways to ask. Both retry and both reject with the errors of errors.ts or the signal's reason. */
export interface Transport {
  /** Resolves with the JSON answer once `isExpected` has recognised it. */
  json<Body>(request: ApiRequest, isExpected: (body: unknown) => body is Body): Promise<Body>;
  /** Resolves with the head of a successful event stream; from there on nothing is retried. */
  stream(request: ApiRequest): Promise<OpenAnswer>;
}

/**
 * The address of the endpoints: `baseUrl` may or may not end in `/v1` or a slash.
 * @throws IngleError when it is no http or https address.
 */
export function apiUrlOf(baseUrl: string): string {
  if (!URL.canParse(baseUrl) || !/^https?:$/.test(new URL(baseUrl).protocol)) {
    throw new IngleError(`baseUrl must be an address such as http://127.0.0.1:1337, not "${baseUrl}"`);
  }
  const { origin, pathname } = new URL(baseUrl);
  return `${origin}${pathname.replace(/\/+$/, "").replace(/\/v1$/, "")}/v1`;
}

/**
 * Makes a transport.
 * @throws IngleError when the key cannot stand in a header.
 */
export function createTransport(options: TransportOptions): Transport {
  const { apiKey, clock } = options;
  if (apiKey !== undefined && !/^[\x21-\x7e]+$/.test(apiKey)) {
    throw new IngleError("apiKey must be visible ASCII characters without spaces");
  }

  async function open(request: ApiRequest): Promise<OpenAnswer> {
    const init = requestInit(request, apiKey);
    const exchange = new Exchange({ timeoutMs: options.timeoutMs, signal: request.signal });
    const response = await exchange.send((signal) =>
      options.fetch(`${options.apiUrl}${request.path}`, { ...init, signal }),
    );
    if (response.ok) return { response, exchange };
    throw errorOfAnswer(response, await exchange.text(), clock.now());
  }

  async function retrying<Value>(
    signal: AbortSignal | undefined,
    attempt: () => Promise<Value>,
  ): Promise<Value> {
    for (let retry = 0; ; retry += 1) {
      signal?.throwIfAborted();
      try {
        return await attempt();
      } catch (error) {
        if (retry >= options.maxRetries || !isWorthRetrying(error)) throw error;
        await clock.delay(retryDelayMs(retry, error, clock), { signal });
      }
    }
  }

  return {
    json: (request, isExpected) =>
      retrying(request.signal, async () => {
        const { response, exchange } = await open(request);
        const body = parseJson(await exchange.text());
        if (!isExpected(body)) throw unexpectedAnswer(response, clock.now());
        return body;
      }),
    stream: (request) =>
      retrying(request.signal, async () => {
        const answer = await open(request);
        if (isEventStream(answer.response)) return answer;
        answer.exchange.close();
        throw unexpectedAnswer(answer.response, clock.now());
      }),
  };
}

function requestInit({ method, body }: ApiRequest, apiKey: string | undefined): RequestInit {
  const headers: Record<string, string> = { accept: "application/json, text/event-stream" };
  if (apiKey !== undefined) headers["authorization"] = `Bearer ${apiKey}`;
  if (body === undefined) return { method, headers };
  headers["content-type"] = "application/json";
  return { method, headers, body: JSON.stringify(body) };
}

function isEventStream(response: Response): boolean {
  return (response.headers.get("content-type") ?? "").toLowerCase().startsWith("text/event-stream");
}
