// Talks to a server that runs elsewhere on this machine or another one: for the commands that manage it.
import { ErrorBody, ManagedModel, ManagedModelList } from "@ingle/protocol";
import type { z } from "zod";
import { CliError, usageError } from "../cli-error.ts";
import type { CommandContext } from "../context.ts";
import { runningServers, tokenFor } from "./running-servers.ts";

export interface RemoteFlags {
  url?: string;
  apiKey?: string;
}

/** Where the desktop variant listens, when nothing is said and no server has written down where it is. */
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
   * The server that the flags or the environment name, else one that this user runs. A key is sent where the user says, or
   * to a server of the same user on this machine: never to whoever listens at the default address.
   */
  static async find({ url, apiKey }: RemoteFlags, context: CommandContext): Promise<RemoteServer> {
    const { env, shutdown } = context;
    const { libraryPaths } = await context.engine();
    const named = (url ?? said(env["INGLE_URL"]))?.replace(/\/+$/, "");
    const running = await runningServers(libraryPaths(env));
    const own = named === undefined ? running[0] : running.find((server) => server.url === named);
    const token = own === undefined ? undefined : tokenFor(own);
    if (apiKey !== undefined && named === undefined && token === undefined)
      throw usageError("You run no server on this machine: say with --url where the key is to be sent.");
    const key = apiKey ?? token ?? (named === undefined ? undefined : firstKey(env));
    return new RemoteServer(named ?? own?.url ?? urlDefault, key, shutdown.signal);
  }

  /** Every model that the server knows. */
  async models(): Promise<ManagedModelList> {
    return await this.#ask("GET", "/api/v1/models", ManagedModelList);
  }

  /** Gives an order and does not wait until it is carried out. `settings` are fields of it; the server checks them. */
  async order(what: "load" | "unload", model: string, settings: object = {}): Promise<ManagedModel> {
    return await this.#ask("POST", `/api/v1/models/${what}`, ManagedModel, {
      ...settings,
      model,
      wait: false,
    });
  }

  async #ask<T>(method: "GET" | "POST", path: string, schema: z.ZodType<T>, body?: object): Promise<T> {
    const init: RequestInit = { method, headers: this.#headers, signal: this.#signal, redirect: "error" };
    if (body !== undefined) {
      init.headers = { ...this.#headers, "content-type": "application/json" };
      init.body = JSON.stringify(body);
    }
    let answer: { status: number; json: unknown };
    try {
      const response = await fetch(this.#url + path, init);
      answer = { status: response.status, json: jsonOf(await response.text()) };
    } catch (error) {
      this.#signal.throwIfAborted();
      throw new CliError(
        `No server answers at ${this.#url}. Start one with "ingle serve", or say where it is with --url.`,
        { cause: error },
      );
    }
    const whole = schema.safeParse(answer.json);
    if (answer.status < 300 && whole.success) return whole.data;
    const refusal = ErrorBody.safeParse(answer.json);
    if (refusal.success) throw new CliError(this.#withHint(refusal.data.error));
    throw new CliError(`What answers at ${this.#url} is no Ingle server, or one of another version.`);
  }

  #withHint({ code, message }: ErrorBody["error"]): string {
    const wantsKey = code === "unauthorized" && this.#headers["authorization"] === undefined;
    return wantsKey ? `${message} A key is sent with --url ${this.#url} and --api-key.` : message;
  }
}

/** The first of the keys that a server would take from the environment, those that manage before the others. */
function firstKey(env: NodeJS.ProcessEnv): string | undefined {
  const keys = said(env["INGLE_ADMIN_KEYS"]) ?? said(env["INGLE_API_KEYS"]);
  return keys?.split(",", 1)[0]?.trim();
}

/** An empty variable counts as not set. */
function said(value: string | undefined): string | undefined {
  return value === "" ? undefined : value;
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // no schema takes it
  }
}
