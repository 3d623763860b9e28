// Controls a client on one of the hosts of namespaces.ts, which runs client-program.ts.
import path from "node:path";
import type {
  ChatRequest,
  ChatOutcome,
  HttpRequest,
  HttpOutcome,
  ClientRequest,
  Report,
} from "./client-messages.ts";
import type { RunningProgram } from "@ingle/fixtures";
import type { Network, RunOptions } from "./namespaces.ts";

/** A running chat request. */
interface RunningChat {
  /** Resolves with true at the first piece, or with false if the chat ends without one. */
  begun: Promise<boolean>;
  outcome: Promise<ChatOutcome>;
}

export interface HostClient {
  chat(request: ChatRequest): RunningChat;
  /** Sends one request without the client library. Rejects without a response. */
  http(request: HttpRequest): Promise<HttpOutcome>;
}

interface HostClientOptions extends Pick<RunOptions, "processorShare"> {
  network: Network;
  host: string;
  baseUrl: string;
  model: string;
  /** A file with the certificate that this client trusts. */
  certificate?: string;
}

/** Starts the client. It ends with its network. */
export async function startClient(options: HostClientOptions): Promise<HostClient> {
  const { network, host, baseUrl, model, certificate, processorShare } = options;
  const program = path.join(import.meta.dirname, "client-program.ts");
  const running = await network.run(host, process.execPath, ["--import", "tsx", program, baseUrl, model], {
    hasChannel: true,
    ...(processorShare === undefined ? {} : { processorShare }),
    env: { ...process.env, ...(certificate === undefined ? {} : { NODE_EXTRA_CA_CERTS: certificate }) },
  });
  return new ChannelClient(running);
}

interface Waiting {
  begun: (hasBegun: boolean) => void;
  settle: (report: Report) => void;
}

class ChannelClient implements HostClient {
  readonly #process: RunningProgram;
  readonly #waiting = new Map<number, Waiting>();
  #orders = 0;

  constructor(running: RunningProgram) {
    this.#process = running;
    running.child.on("message", (report: Report) => this.#receive(report));
    void running.ended.then(() => {
      for (const id of this.#waiting.keys()) this.#receive({ id, failure: running.failure("ended").message });
    });
  }

  chat(request: ChatRequest): RunningChat {
    const { begun, report } = this.#send({ chat: request });
    const outcome = report.then((response) => {
      if ("chat" in response) return response.chat;
      throw new Error("failure" in response ? response.failure : "not a report of a chat");
    });
    return { begun, outcome };
  }

  async http(request: HttpRequest): Promise<HttpOutcome> {
    const response = await this.#send({ http: request }).report;
    if ("http" in response) return response.http;
    throw new Error("failure" in response ? response.failure : "not a report of a request");
  }

  #send(request: { chat: ChatRequest } | { http: HttpRequest }): {
    begun: Promise<boolean>;
    report: Promise<Report>;
  } {
    this.#orders += 1;
    const id = this.#orders;
    let hasBegun: (value: boolean) => void = () => {};
    const begun = new Promise<boolean>((resolve) => {
      hasBegun = resolve;
    });
    const report = new Promise<Report>((settle) => {
      this.#waiting.set(id, { begun: hasBegun, settle });
    });
    this.#process.child.send({ id, ...request } satisfies ClientRequest);
    return { begun, report };
  }

  #receive(report: Report): void {
    const waiting = this.#waiting.get(report.id);
    if ("begun" in report) {
      waiting?.begun(true);
      return;
    }
    this.#waiting.delete(report.id);
    waiting?.begun(false);
    waiting?.settle(report);
  }
}
