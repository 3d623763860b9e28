// A client of POST /v1/chat/completions for measurements: one connection per request, every piece timestamped as it
// arrives and parsed only after the end, so that the client takes as little of the machine as possible.
import { request as httpRequest, type IncomingMessage } from "node:http";
import { BenchError, errorMessage } from "./bench-error.ts";
import type { StreamRecord, StreamRequest } from "./stream-record.ts";

/** Enough for the slowest server of a scenario with 32 clients on a small machine. */
export const requestLimitMs = 600_000;
/** Characters of a refusal quoted in an error message. */
const refusalMax = 500;

export interface StreamOptions {
  /** Fails the request. */
  signal?: AbortSignal | undefined;
  /** Closes the connection like a client that disconnects; the record then says so. */
  leave?: AbortSignal | undefined;
  /** Called with the number of pieces so far, which is close to the number of tokens. */
  onPiece?: ((count: number) => void) | undefined;
}

/** Bytes with their time of arrival. */
export interface Piece {
  atMs: number;
  bytes: Uint8Array;
}

/**
 * Sends one request and reads the response to its end. Throws BenchError if it is refused, cut off, too slow or not an
 * event stream, or the signal's reason.
 */
export async function streamChat(
  url: string,
  model: string,
  request: StreamRequest,
  options: StreamOptions = {},
): Promise<StreamRecord> {
  const { signal, leave } = options;
  signal?.throwIfAborted();
  const limit = AbortSignal.timeout(requestLimitMs);
  const given = [limit, signal, leave].filter((one) => one !== undefined);
  const pieces: Piece[] = [];
  const sentAtMs = performance.now();
  try {
    await exchange(url, requestBody(model, request), pieces, { signal: AbortSignal.any(given), options });
  } catch (error) {
    signal?.throwIfAborted();
    if (leave?.aborted === true) return readReply(pieces, sentAtMs, performance.now());
    if (limit.aborted) throw new BenchError(`A request had no end after ${requestLimitMs / 1000} seconds.`);
    throw error instanceof BenchError
      ? error
      : new BenchError(`A request failed: ${errorMessage(error)}.`, { cause: error });
  }
  return readReply(pieces, sentAtMs);
}

async function exchange(
  url: string,
  body: string,
  pieces: Piece[],
  { signal, options }: { signal: AbortSignal; options: StreamOptions },
): Promise<void> {
  const response = await send(url, body, signal);
  if (response.statusCode !== 200) {
    const refusal = (await response.setEncoding("utf8").toArray()).join("").slice(0, refusalMax);
    throw new BenchError(`A request was refused with ${response.statusCode}: ${refusal}`);
  }
  await new Promise<void>((resolve, reject) => {
    response.on("data", (bytes: Uint8Array) => {
      pieces.push({ atMs: performance.now(), bytes });
      options.onPiece?.(pieces.length);
    });
    response.once("end", resolve);
    response.once("error", reject);
  });
}

async function send(url: string, body: string, signal: AbortSignal): Promise<IncomingMessage> {
  return await new Promise((resolve, reject) => {
    const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(body) };
    const request = httpRequest(`${url}/v1/chat/completions`, {
      method: "POST",
      agent: false,
      headers,
      signal,
    });
    request.once("response", resolve);
    request.once("error", reject);
    request.end(body);
  });
}

/** The request body, as JSON. */
export function requestBody(model: string, request: StreamRequest): string {
  const { sampling, schema } = request;
  return JSON.stringify({
    model,
    messages: wireMessages(request),
    max_tokens: request.maxTokens,
    ignore_eos: true,
    stream: true,
    stream_options: { include_usage: true },
    temperature: sampling?.temperature ?? 0,
    ...(schema === undefined
      ? {}
      : { response_format: { type: "json_schema", json_schema: { name: "answer", schema, strict: true } } }),
    ...(sampling === undefined ? {} : { top_k: sampling.topK, top_p: sampling.topP, seed: sampling.seed }),
  });
}

function wireMessages({ messages, images = [] }: StreamRequest): readonly object[] {
  const last = messages.at(-1);
  if (images.length === 0 || last === undefined) return messages;
  const content = [
    ...images.map((url) => ({ type: "image_url", image_url: { url } })),
    { type: "text", text: last.content },
  ];
  return [...messages.slice(0, -1), { ...last, content }];
}

/** The fields of a chunk used here; servers may omit any of them. */
interface Chunk {
  error?: { message?: string };
  choices?: {
    delta?: { content?: string | null; reasoning_content?: string | null };
    finish_reason?: string | null;
  }[];
  usage?: {
    prompt_tokens: number;
    completion_tokens: number;
    prompt_tokens_details?: { cached_tokens?: number };
  } | null;
  timings?: { prompt_n?: number; cache_n?: number; predicted_per_second?: number };
}

/** Builds the record of a stream. With `leftAtMs` the client disconnected then, and an incomplete stream is fine. Throws BenchError. */
export function readReply(pieces: readonly Piece[], sentAtMs: number, leftAtMs?: number): StreamRecord {
  const record: StreamRecord = {
    sentAtMs,
    arrivalsMs: [],
    endedAtMs: leftAtMs ?? Number.NaN,
    text: "",
    hasLeft: leftAtMs !== undefined,
    completionTokens: 0,
    promptTokens: 0,
    reusedTokens: 0,
    computedTokens: 0,
  };
  let isWhole = false;
  for (const { atMs, data } of events(pieces)) {
    if (data === "[DONE]") isWhole = true;
    else addChunk(record, parseChunk(data), atMs);
  }
  if (record.hasLeft) return record;
  if (!isWhole) throw new BenchError("A stream ended without [DONE]: the reply was cut off.");
  if (Number.isNaN(record.endedAtMs)) throw new BenchError("A stream had no finish_reason.");
  return record;
}

function* events(pieces: readonly Piece[]): Generator<{ atMs: number; data: string }> {
  const decoder = new TextDecoder();
  let text = "";
  for (const { atMs, bytes } of pieces) {
    text += decoder.decode(bytes, { stream: true });
    const lines = text.split(/\r?\n/);
    text = lines.pop() ?? "";
    for (const line of lines) {
      // Skips blank lines and comments; both servers write an event's data on one line.
      if (line.startsWith("data:")) yield { atMs, data: line.slice("data:".length).trim() };
    }
  }
}

function parseChunk(data: string): Chunk {
  try {
    return JSON.parse(data);
  } catch (error) {
    throw new BenchError(`A stream held an event that is no JSON: ${data.slice(0, refusalMax)}`, {
      cause: error,
    });
  }
}

function addChunk(record: StreamRecord, chunk: Chunk, atMs: number): void {
  if (chunk.error !== undefined)
    throw new BenchError(`A stream ended with an error: ${chunk.error.message ?? "no message"}`);
  const [choice] = chunk.choices ?? [];
  const text = `${choice?.delta?.reasoning_content ?? ""}${choice?.delta?.content ?? ""}`;
  if (text !== "") {
    record.arrivalsMs.push(atMs);
    record.text += text;
  }
  const hasEnd = choice?.finish_reason !== undefined && choice.finish_reason !== null;
  if (hasEnd && !record.hasLeft) record.endedAtMs = atMs;
  record.serverTokensPerSecond = chunk.timings?.predicted_per_second ?? record.serverTokensPerSecond;
  const { usage } = chunk;
  if (usage === undefined || usage === null) return;
  record.promptTokens = usage.prompt_tokens;
  record.completionTokens = usage.completion_tokens;
  record.reusedTokens = usage.prompt_tokens_details?.cached_tokens ?? 0;
  record.computedTokens = usage.prompt_tokens - record.reusedTokens;
}
