// A server that was just deployed: waits for its first container, asks for the id of its model, and has it reply once.
import { setTimeout as pause } from "node:timers/promises";
import { ChatCompletion, ErrorBody, ModelList, Readiness } from "@ingle/protocol";
import type { z } from "zod";
import { CliError } from "../cli-error.ts";
import type { CommandContext } from "../context.ts";
import { formatDuration } from "../text.ts";

/** Between two questions whether it answers: short beside any start, and no burden for a platform. */
const askEveryMs = 500;
/** Between two lines that say that it is still waited for. */
const tellEveryMs = 15_000;
/** A reply of a few tokens, from a container that runs. */
const replyMaxMs = 120_000;
/** Tokens of the first reply: enough for all kernels to have run once. */
const warmUpTokens = 8;

interface Answer {
  status: number;
  json: unknown;
}

export class DeployedServer {
  readonly #url: string;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #context: Pick<CommandContext, "stderr" | "now" | "shutdown">;

  constructor(
    url: string,
    headers: Readonly<Record<string, string>>,
    context: Pick<CommandContext, "stderr" | "now" | "shutdown">,
  ) {
    this.#url = url;
    this.#headers = headers;
    this.#context = context;
  }

  /**
   * Returns how long it took until a container answered. Platforms refuse requests, or hold them, while the first one starts.
   * Throws CliError when it took too long, with `hint`, or when the platform refuses the credentials.
   */
  async untilReady({ timeoutMs, hint }: { timeoutMs: number; hint: string }): Promise<number> {
    const { now, stderr, shutdown } = this.#context;
    const startedAt = now();
    const ends = AbortSignal.timeout(timeoutMs);
    let toldAt = startedAt;
    let last = "nothing";
    while (!ends.aborted) {
      try {
        const { status, json } = await this.#ask("GET", "/readyz", { signal: ends });
        if (status === 200 && Readiness.safeParse(json).success) return now() - startedAt;
        if (status === 401 || status === 403 || status === 407)
          throw new CliError(
            `${this.#url} refuses the credentials (${status}). Check MODAL_KEY and MODAL_SECRET.`,
          );
        last = `a ${status}`;
      } catch (error) {
        shutdown.signal.throwIfAborted();
        if (error instanceof CliError) throw error;
        if (!ends.aborted) last = error instanceof Error ? causeOf(error) : String(error);
      }
      if (now() - toldAt >= tellEveryMs) {
        toldAt = now();
        stderr.write(`Still waiting after ${formatDuration(toldAt - startedAt)}: it answers with ${last}.\n`);
      }
      await pause(askEveryMs, undefined, { signal: shutdown.signal }).catch(() =>
        shutdown.signal.throwIfAborted(),
      );
    }
    throw new CliError(
      `The deployment is there, and did not answer within ${formatDuration(timeoutMs)}: the last answer was ${last}. ${hint}`,
    );
  }

  /** The id of the model in memory. */
  async modelId(): Promise<string> {
    const { data } = await this.#expect("GET", "/v1/models", ModelList);
    const model = data.find(({ status }) => status === "loaded") ?? data[0];
    if (model !== undefined) return model.id;
    throw new CliError(`${this.#url} serves no model.`);
  }

  /** One short reply: the first one of a container takes longer than those after it. */
  async warmUp(model: string): Promise<void> {
    const messages = [{ role: "user", content: "Hello" }];
    await this.#expect("POST", "/v1/chat/completions", ChatCompletion, {
      model,
      messages,
      max_tokens: warmUpTokens,
    });
  }

  /** The answer, checked. Throws CliError with the server's own sentence. */
  async #expect<T>(method: "GET" | "POST", path: string, schema: z.ZodType<T>, body?: object): Promise<T> {
    const { shutdown } = this.#context;
    let answer: Answer;
    try {
      answer = await this.#ask(method, path, { body, signal: AbortSignal.timeout(replyMaxMs) });
    } catch (error) {
      shutdown.signal.throwIfAborted();
      const why = error instanceof Error ? causeOf(error) : String(error);
      throw new CliError(`${this.#url}${path} could not be asked: ${why}.`, { cause: error });
    }
    const parsed = schema.safeParse(answer.json);
    if (answer.status === 200 && parsed.success) return parsed.data;
    const refusal = ErrorBody.safeParse(answer.json);
    const why = refusal.success ? refusal.data.error.message : "What answers there is no Ingle server.";
    throw new CliError(`${this.#url}${path} answered with ${answer.status}. ${why}`);
  }

  async #ask(
    method: "GET" | "POST",
    path: string,
    { body, signal }: { body?: object | undefined; signal: AbortSignal },
  ): Promise<Answer> {
    const init: RequestInit = {
      method,
      headers: { ...this.#headers, ...(body === undefined ? {} : { "content-type": "application/json" }) },
      signal: AbortSignal.any([this.#context.shutdown.signal, signal]),
    };
    if (body !== undefined) init.body = JSON.stringify(body);
    const response = await fetch(this.#url + path, init);
    return { status: response.status, json: jsonOf(await response.text()) };
  }
}

/** `fetch` says "fetch failed", and the reason is its cause. */
function causeOf(error: Error): string {
  return error.cause instanceof Error && error.cause.message !== "" ? error.cause.message : error.message;
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // no schema takes it
  }
}
