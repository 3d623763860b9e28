// A client on its own host: sends the requests that client.ts asks for over the channel, with our client library, until the
// channel closes. Its arguments are the server's address and model.
import { Ingle } from "@ingle/client";
import type {
  ChatRequest,
  ChatOutcome,
  HttpRequest,
  HttpOutcome,
  ClientRequest,
  Report,
} from "./client-messages.ts";

/** Longer than any reply of a tiny model on a busy machine. */
const timeoutMs = 60_000;

const [, , defaultUrl = "", model = ""] = process.argv;

async function chat(request: ChatRequest, begun: () => void): Promise<ChatOutcome> {
  const { content, history = [], maxTokens, isStream, session, apiKey, baseUrl, maxRetries = 0 } = request;
  const headers: Record<string, string> = session === undefined ? {} : { "x-session-id": session };
  const client = new Ingle({ baseUrl: baseUrl ?? defaultUrl, apiKey, headers, maxRetries, timeoutMs });
  const body = {
    model,
    messages: [...history, { role: "user" as const, content }],
    max_tokens: maxTokens,
    ignore_eos: true,
    temperature: 0,
  };
  const sentAt = performance.now();
  let firstMs = Number.NaN;
  let text = "";
  const first = (): void => {
    if (!Number.isNaN(firstMs)) return;
    firstMs = performance.now() - sentAt;
    begun();
  };
  const outcome = { promptTokens: 0, cachedTokens: 0, completionTokens: 0 };
  const ended = (isWhole: boolean, error: string | null): ChatOutcome => ({
    ...outcome,
    isWhole,
    isStream,
    error,
    text,
    firstMs,
    totalMs: performance.now() - sentAt,
  });
  try {
    const whole = isStream
      ? await streamed()
      : await client.chat.completions.create({ ...body, stream: false });
    first();
    const { usage } = whole;
    outcome.promptTokens = usage?.prompt_tokens ?? 0;
    outcome.cachedTokens = usage?.prompt_tokens_details?.cached_tokens ?? 0;
    outcome.completionTokens = usage?.completion_tokens ?? 0;
    text = whole.choices[0]?.message.content ?? "";
    return ended(
      whole.choices[0]?.finish_reason === "length" && outcome.completionTokens === maxTokens,
      null,
    );
  } catch (error) {
    return ended(false, described(error));
  }

  async function streamed() {
    const stream = await client.chat.completions.stream(body);
    for await (const piece of stream.texts()) {
      text += piece;
      first();
    }
    return await stream.finalCompletion();
  }
}

async function http({ url, method = "GET", headers = {}, body }: HttpRequest): Promise<HttpOutcome> {
  const text = typeof body === "object" ? `"${"x".repeat(body.bytes - 2)}"` : body;
  const response = await fetch(url, {
    method,
    headers,
    body: text ?? null,
    signal: AbortSignal.timeout(timeoutMs),
  });
  return {
    status: response.status,
    headers: Object.fromEntries(response.headers),
    text: await response.text(),
  };
}

async function carryOut(request: ClientRequest): Promise<Report> {
  const { id } = request;
  try {
    if ("chat" in request) return { id, chat: await chat(request.chat, () => send({ id, begun: true })) };
    return { id, http: await http(request.http) };
  } catch (error) {
    return { id, failure: described(error) };
  }
}

function described(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code: unknown = Reflect.get(error, "code");
  const cause = error.cause instanceof Error ? ` (${described(error.cause)})` : "";
  return `${error.name}${typeof code === "string" ? ` ${code}` : ""}: ${error.message}${cause}`;
}

function send(report: Report): void {
  process.send?.(report);
}

process.on("message", (request: ClientRequest) => {
  void carryOut(request).then(send); // each request reports its own outcome, failures too
});
