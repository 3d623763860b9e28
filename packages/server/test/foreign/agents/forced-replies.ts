// Stands between an agent's program and a server: makes each reply end after a few tokens, whatever random weights would write, and
// records what was asked.
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { z } from "zod";

export interface Exchange {
  path: string;
  status: number;
  /** Tokens of the prompt, and how many of them were cached; 0 if the response has no usage. */
  prompt: number;
  cached: number;
  /** The start of an error's body. */
  error: string;
}

export interface ForcedReplies extends AsyncDisposable {
  url: string;
  exchanges: Exchange[];
  /** Is aborted by the first response that is a failure. */
  firstFailure: AbortSignal;
  /** Whether replies go on until they are cancelled. */
  isEndless: boolean;
}

export const isFailure = ({ status }: Exchange): boolean => status < 200 || status > 299;

/** The exchange with the longest prompt: agents also ask for titles and the like. */
export function longestPrompt(exchanges: readonly Exchange[]): Exchange {
  const [longest] = exchanges.toSorted((a, b) => b.prompt - a.prompt);
  if (longest === undefined) throw new Error("The agent asked for nothing.");
  return longest;
}

const Asked = z.looseObject({ stream: z.boolean().nullish() });
const generates = /\/(?:chat\/completions|responses|messages)$/;

export async function forcedReplies(target: string, endToken: number): Promise<ForcedReplies> {
  const server = createServer((request, response) => {
    const stop = new AbortController();
    response.on("close", () => stop.abort());
    const [path = ""] = (request.url ?? "").split("?", 1);
    const answer = async (): Promise<void> => {
      const given = await readBody(request);
      const isForced = request.method === "POST" && generates.test(path);
      const got = await fetch(`${target}${request.url}`, {
        method: request.method ?? "GET",
        headers: forwardedHeaders(request),
        signal: stop.signal,
        ...(given === ""
          ? {}
          : { body: isForced ? forced(given, path, recorded.isEndless, endToken) : given }),
      });
      response.writeHead(got.status, {
        "content-type": got.headers.get("content-type") ?? "application/json",
      });
      let text = "";
      const decoder = new TextDecoder();
      for await (const piece of got.body ?? []) {
        text += decoder.decode(piece, { stream: true });
        response.write(piece);
      }
      response.end();
      record({ path, status: got.status, ...parseUsage(text), error: got.ok ? "" : text.slice(0, 500) });
    };
    answer().catch((error: unknown) => {
      response.destroy();
      // Without a response, unless the program has gone.
      if (!stop.signal.aborted) record({ path, status: 0, prompt: 0, cached: 0, error: String(error) });
    });
  });
  const record = (exchange: Exchange): void => {
    recorded.exchanges.push(exchange);
    if (isFailure(exchange)) failure.abort();
  };
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const failure = new AbortController();
  const recorded: ForcedReplies = {
    url: `http://127.0.0.1:${port}`,
    exchanges: [],
    firstFailure: failure.signal,
    isEndless: false,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => void server.close(resolve));
    },
  };
  return recorded;
}

async function readBody(request: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(Buffer.from(piece));
  return Buffer.concat(pieces).toString();
}

function forwardedHeaders({ headers }: IncomingMessage): Record<string, string> {
  const own = new Set([
    "host",
    "connection",
    "content-length",
    "transfer-encoding",
    "accept-encoding",
    "expect",
  ]);
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      typeof value === "string" && !own.has(name) ? [[name, value]] : [],
    ),
  );
}

/** The end token follows a few others, or never comes. A stream is asked for its usage. */
function forced(body: string, path: string, isEndless: boolean, endToken: number): string {
  const asked = Asked.parse(JSON.parse(body));
  const isStream = asked.stream === true && path.endsWith("/chat/completions");
  return JSON.stringify({
    ...asked,
    ...(isEndless ? { ignore_eos: true } : { min_tokens: 4, logit_bias: { [endToken]: 100 } }),
    ...(isStream ? { stream_options: { include_usage: true } } : {}),
  });
}

function parseUsage(text: string): Pick<Exchange, "prompt" | "cached"> {
  const last = (name: string): number =>
    Number([...text.matchAll(new RegExp(`"${name}":\\s*(\\d+)`, "g"))].at(-1)?.[1] ?? 0);
  // Anthropic's count of the prompt does not include what was cached.
  if (text.includes('"cache_read_input_tokens"')) {
    const cached = last("cache_read_input_tokens");
    return { prompt: last("input_tokens") + cached, cached };
  }
  return { prompt: Math.max(last("prompt_tokens"), last("input_tokens")), cached: last("cached_tokens") };
}
