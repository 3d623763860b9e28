// Requests to the hub and to the hosts it redirects to: through the user's proxy, with the token only for the hub, and
// without following redirects, because their headers are needed. Node 20's fetch does not support proxies; npm's connection
// agent does.
import http, { type IncomingMessage } from "node:http";
import https from "node:https";
import type { Agent } from "@npmcli/agent";
import { ingleAgent } from "../library-options.ts";
import { readBody, type HttpResponse } from "../response.ts";
import { hubFailure, type HubRequestInfo } from "./hub-failure.ts";
import type { HubSettings } from "./hub-settings.ts";

interface HubRequest {
  method?: "GET" | "HEAD";
  headers?: Record<string, string>;
  /** For the error message. */
  question: HubRequestInfo;
  signal?: AbortSignal | undefined;
}

/** A silent connection is closed and retried after this time. */
const silenceMaxMs = 60_000;
const connectMaxMs = 30_000;

export class HubHttp implements Disposable {
  readonly settings: HubSettings;
  readonly #agents = new Map<string, Agent>();

  constructor(settings: HubSettings) {
    this.settings = settings;
  }

  /** One request, whatever its status. Throws `download_failed` (a certificate), a TemporaryFailure or the signal's reason. */
  async request(
    url: string,
    { method = "GET", headers = {}, question, signal }: HubRequest,
  ): Promise<HttpResponse> {
    signal?.throwIfAborted();
    const target = new URL(url);
    try {
      const message = await this.#send(target, { method, headers, signal });
      return {
        status: message.statusCode ?? 0,
        header: (name) => firstValue(message.headers[name]),
        body: readBody(message, signal, (error) => hubFailure(error, question)),
        [Symbol.dispose]: () => message.destroy(),
      };
    } catch (error) {
      signal?.throwIfAborted();
      throw hubFailure(error, question);
    }
  }

  [Symbol.dispose](): void {
    for (const agent of this.#agents.values()) agent.destroy();
  }

  async #send(
    target: URL,
    {
      method,
      headers,
      signal,
    }: { method: string; headers: Record<string, string>; signal: AbortSignal | undefined },
  ): Promise<IncomingMessage> {
    const { request } = target.protocol === "https:" ? https : http;
    const agent = await this.#agentFor(target);
    return await new Promise<IncomingMessage>((resolve, reject) => {
      const sent = request(target, {
        method,
        agent,
        headers: { "user-agent": ingleAgent, ...this.#authorization(target), ...headers },
        ...(signal === undefined ? {} : { signal }),
      });
      sent.once("response", resolve);
      // `on` instead of `once`: after an abort the socket may emit another error, and an unhandled one would crash the process.
      sent.on("error", reject);
      sent.setTimeout(silenceMaxMs, () =>
        sent.destroy(Object.assign(new Error("No data for a minute."), { code: "ETIMEDOUT" })),
      );
      sent.end();
    });
  }

  #authorization({ origin }: URL): Record<string, string> {
    const { token, endpoint } = this.settings;
    return token !== undefined && origin === new URL(endpoint).origin
      ? { authorization: `Bearer ${token}` }
      : {};
  }

  async #agentFor({ protocol }: URL): Promise<Agent> {
    // Imported with the first request: it loads two dozen files, and most starts make no request.
    const { Agent: NpmAgent } = await import("@npmcli/agent");
    const kept = this.#agents.get(protocol);
    if (kept !== undefined) return kept;
    const { proxies, noProxy } = this.settings;
    const proxy = protocol === "https:" ? proxies.https : proxies.http;
    const agent = new NpmAgent({
      ...(proxy === undefined ? {} : { proxy, noProxy }),
      keepAlive: true,
      timeouts: { connection: connectMaxMs },
    });
    this.#agents.set(protocol, agent);
    return agent;
  }
}

function firstValue(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value;
}
