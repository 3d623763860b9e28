// A server that was just deployed: waits for its first container, gets the id of its model, and lets it generate one short reply.
import { setTimeout as pause } from "node:timers/promises";
import { ChatCompletion, ErrorBody, ModelList, Readiness } from "@ingle/protocol";
import type { z } from "zod";
import { CliError } from "../errors.ts";
import type { CommandContext } from "../context.ts";
import { fetchFailure, requestJson } from "../http-json.ts";
import { formatDuration } from "../text.ts";

/** The polling interval: short compared with any start, and no burden for a platform. */
const pollEveryMs = 500;
/** The interval between lines that say that it is still waiting. */
const reportEveryMs = 15_000;
/** Time limit for a reply of a few tokens from a running container. */
const replyMaxMs = 120_000;
/** Tokens of the first reply: enough to run all kernels once. */
const warmUpTokens = 8;

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
   * Returns the time until a container was ready, in milliseconds. Platforms refuse or hold requests while the first one starts.
   * Throws CliError on a timeout, with `hint`, or if the platform refuses the credentials.
   */
  async untilReady({ timeoutMs, hint }: { timeoutMs: number; hint: string }): Promise<number> {
    const { now, stderr, shutdown } = this.#context;
    const startedAt = now();
    const ends = AbortSignal.timeout(timeoutMs);
    let reportedAt = startedAt;
    let last = "none";
    while (!ends.aborted) {
      try {
        const { status, json } = await this.#request("GET", "/readyz", { signal: ends });
        if (status === 200 && Readiness.safeParse(json).success) return now() - startedAt;
        if (status === 401 || status === 403 || status === 407)
          throw new CliError(
            `${this.#url} refused the credentials (${status}). Check MODAL_KEY and MODAL_SECRET.`,
          );
        last = `status ${status}`;
      } catch (error) {
        shutdown.signal.throwIfAborted();
        if (error instanceof CliError) throw error;
        if (!ends.aborted) last = fetchFailure(error);
      }
      if (now() - reportedAt >= reportEveryMs) {
        reportedAt = now();
        stderr.write(
          `Still waiting after ${formatDuration(reportedAt - startedAt)}. Last response: ${last}.\n`,
        );
      }
      await pause(pollEveryMs, undefined, { signal: shutdown.signal }).catch(() =>
        shutdown.signal.throwIfAborted(),
      );
    }
    throw new CliError(
      `The model was deployed, but was not ready within ${formatDuration(timeoutMs)}. Last response: ${last}. ${hint}`,
    );
  }

  /** The id of the model in memory. */
  async modelId(): Promise<string> {
    const { data } = await this.#expect("GET", "/v1/models", ModelList);
    const model = data.find(({ status }) => status === "loaded") ?? data[0];
    if (model !== undefined) return model.id;
    throw new CliError(`${this.#url} serves no model.`);
  }

  /** Generates one short reply: the first one of a container takes longer than the following ones. */
  async warmUp(model: string): Promise<void> {
    const messages = [{ role: "user", content: "Hello" }];
    await this.#expect("POST", "/v1/chat/completions", ChatCompletion, {
      model,
      messages,
      max_tokens: warmUpTokens,
    });
  }

  /** The checked response. Throws CliError with the server's error message. */
  async #expect<T>(method: "GET" | "POST", path: string, schema: z.ZodType<T>, body?: object): Promise<T> {
    const { shutdown } = this.#context;
    let response: { status: number; json: unknown };
    try {
      response = await this.#request(method, path, { body, signal: AbortSignal.timeout(replyMaxMs) });
    } catch (error) {
      shutdown.signal.throwIfAborted();
      throw new CliError(`${this.#url}${path} cannot be reached: ${fetchFailure(error)}.`, { cause: error });
    }
    const parsed = schema.safeParse(response.json);
    if (response.status === 200 && parsed.success) return parsed.data;
    const refusal = ErrorBody.safeParse(response.json);
    const why = refusal.success ? refusal.data.error.message : "It is not an Ingle server.";
    throw new CliError(`${this.#url}${path} returned ${response.status}. ${why}`);
  }

  async #request(
    method: "GET" | "POST",
    path: string,
    { body, signal }: { body?: object | undefined; signal: AbortSignal },
  ): Promise<{ status: number; json: unknown }> {
    const either = AbortSignal.any([this.#context.shutdown.signal, signal]);
    return await requestJson(this.#url + path, { method, headers: this.#headers, body, signal: either });
  }
}
