// A client for the running server, on this machine or another one, that a command manages.
import { ErrorBody, ManagedModel, ManagedModelList } from "@ingle/protocol";
import type { z } from "zod";
import { CliError, usageError } from "../errors.ts";
import type { CommandContext } from "../context.ts";
import { requestJson } from "../http-json.ts";
import type { RemoteFlags } from "../command-flags.ts";
import { runningServers, tokenFor } from "./running-servers.ts";

/** The desktop variant's address, used if no address is given and no server has recorded its own. */
const urlDefault = "http://127.0.0.1:1337";

export class RemoteServer {
  readonly #url: string;
  readonly #headers: Record<string, string>;
  readonly #signal: AbortSignal;

  private constructor(url: string, apiKey: string | undefined, signal: AbortSignal) {
    this.#url = url;
    this.#headers = apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` };
    this.#signal = signal;
  }

  /**
   * The server given by flags or environment, else one that this user runs. A key is sent only to an address that the user
   * gave, or to a server of the same user on this machine: never to whatever listens at the default address.
   */
  static async find({ url, apiKey }: RemoteFlags, context: CommandContext): Promise<RemoteServer> {
    const { env, shutdown } = context;
    const { libraryPaths } = await context.engine();
    const named = namedServer(url, env);
    const running = await runningServers(libraryPaths(env));
    const own = named === undefined ? running[0] : running.find((server) => server.url === named);
    const token = own === undefined ? undefined : tokenFor(own);
    if (apiKey !== undefined && named === undefined && token === undefined)
      throw usageError(
        "No server of yours is running on this machine. Use --url to say which server the key is for.",
      );
    const key =
      apiKey ??
      token ??
      (named === undefined ? undefined : firstKey(env, ["INGLE_ADMIN_KEYS", "INGLE_API_KEYS"]));
    return new RemoteServer(named ?? own?.url ?? urlDefault, key, shutdown.signal);
  }

  /** Every model that the server knows. */
  async models(): Promise<ManagedModelList> {
    return await this.#ask("GET", "/api/v1/models", ManagedModelList);
  }

  /** Sends a management request, and does not wait until it is done. The server checks `settings`. */
  async request(action: "load" | "unload", model: string, settings: object = {}): Promise<ManagedModel> {
    return await this.#ask("POST", `/api/v1/models/${action}`, ManagedModel, {
      ...settings,
      model,
      wait: false,
    });
  }

  async #ask<T>(method: "GET" | "POST", path: string, schema: z.ZodType<T>, body?: object): Promise<T> {
    const request = {
      method,
      headers: this.#headers,
      body,
      signal: this.#signal,
      redirect: "error",
    } as const;
    let response: { status: number; json: unknown };
    try {
      response = await requestJson(this.#url + path, request);
    } catch (error) {
      this.#signal.throwIfAborted();
      throw new CliError(
        `No server responds at ${this.#url}. Start one with "ingle serve", or give its address with --url.`,
        { cause: error },
      );
    }
    const whole = schema.safeParse(response.json);
    if (response.status < 300 && whole.success) return whole.data;
    const refusal = ErrorBody.safeParse(response.json);
    if (refusal.success) throw new CliError(this.#withHint(refusal.data.error));
    throw new CliError(`The server at ${this.#url} is not an Ingle server, or has another version.`);
  }

  #withHint({ code, message }: ErrorBody["error"]): string {
    const wantsKey = code === "unauthorized" && this.#headers["authorization"] === undefined;
    return wantsKey ? `${message} Give one with --url ${this.#url} --api-key KEY.` : message;
  }
}

/** The address of `--url` or `INGLE_URL`, without a slash at its end. */
export function namedServer(url: string | undefined, env: NodeJS.ProcessEnv): string | undefined {
  return (url ?? nonEmpty(env["INGLE_URL"]))?.replace(/\/+$/, "");
}

/** The first key of the first of these variables that is set. */
export function firstKey(env: NodeJS.ProcessEnv, variables: readonly string[]): string | undefined {
  const keys = variables.map((name) => nonEmpty(env[name])).find((value) => value !== undefined);
  return nonEmpty(keys?.split(",", 1)[0]?.trim());
}

/** An empty variable counts as not set. */
function nonEmpty(value: string | undefined): string | undefined {
  return value === "" ? undefined : value;
}
