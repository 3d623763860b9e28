// The transport to an MCP server: a process with pipes, or streamable HTTP. It negotiates the protocol's version and finds out why a
// server fails.
import { setTimeout as sleep } from "node:timers/promises";
import {
  Client,
  ProtocolError,
  StreamableHTTPClientTransport,
  type ClientOptions,
} from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { boundedFetch } from "./bounded-fetch.ts";
import type { HttpServer, StdioServer } from "./mcp-config.ts";
import { MessageBuffer } from "./message-buffer.ts";
import { MessageTooLarge } from "./message-limit.ts";

/** The last part of a process's stderr, kept for the reason why it ended. */
const stderrTailMax = 2_000;

/** Milliseconds that an HTTP server may take to end its session before the connection is closed without. */
const endSessionMs = 2_000;

/** It is declared without capabilities, so a server can ask nothing of the user or of the model. */
const clientInfo = { name: "ingle", version: "1" };

/** Results go to a model, which reads what is there: checking them against the server's own schema would help nobody. */
const noValidation: NonNullable<ClientOptions["jsonSchemaValidator"]> = {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- nothing relies on its type
  getValidator: () => (input) => ({ valid: true, data: input as never, errorMessage: undefined }),
};

export interface LinkOptions {
  signal: AbortSignal;
  /** Milliseconds of each message. */
  timeout: number;
}

export class Link {
  readonly #target: StdioServer | HttpServer;
  readonly #ended = new AbortController();
  #client: Client | undefined;
  #isConnected = false;
  #stderrTail = "";

  constructor(target: StdioServer | HttpServer) {
    this.#target = target;
  }

  /** Only after `connect()`. */
  get client(): Client {
    if (this.#client === undefined) throw new Error("The link is not connected.");
    return this.#client;
  }

  /** Aborted when the connection has been lost. */
  get ended(): AbortSignal {
    return this.#ended.signal;
  }

  /** Why the connection has been lost, as the end of a sentence about the server. Undefined while it stands. */
  get endedBecause(): string | undefined {
    return this.ended.aborted ? String(this.ended.reason) : undefined;
  }

  /**
   * Agrees on the protocol's version. To ask a process first whether it knows the newest one, the SDK would start it twice, so a
   * process is asked only if it refuses the usual handshake.
   */
  async connect(options: LinkOptions): Promise<void> {
    if (this.#target.kind === "http") return this.#attempt("auto", options);
    try {
      await this.#attempt("legacy", options);
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw error;
      await this.close();
      await this.#attempt("auto", options);
    }
  }

  /** Ends the server's process, at first by closing its stdin; or its session over HTTP, which it may keep for long otherwise. */
  async close(): Promise<void> {
    if (this.#client === undefined) return;
    this.#client.onclose = undefined; // oxlint-disable-line prefer-add-event-listener -- the SDK's client is no event target
    if (this.#client.transport instanceof StreamableHTTPClientTransport)
      await endSession(this.#client.transport);
    await this.#client.close();
  }

  /** The reason of an error, as the end of a sentence about the server. */
  whyFailed(error: unknown): string {
    if (this.#target.kind === "stdio" && isMissingFile(error)) {
      const folder = this.#target.cwd === undefined ? "" : `, or there is no folder ${this.#target.cwd}`;
      return `cannot be started: there is no program ${this.#target.command}${folder}`;
    }
    // An attempt over HTTP ends because of the error; a process may have said on stderr why it ended.
    const because = this.#target.kind === "http" && !this.#isConnected ? undefined : this.endedBecause;
    return because ?? `failed: ${failureReason(error)}`;
  }

  async #attempt(mode: "legacy" | "auto", options: LinkOptions): Promise<void> {
    const client = new Client(clientInfo, {
      versionNegotiation: { mode, probe: { timeoutMs: options.timeout } },
      jsonSchemaValidator: noValidation,
    });
    // oxlint-disable prefer-add-event-listener -- the SDK's client is no event target
    client.onclose = () => this.#ended.abort(this.#whyClosed());
    client.onerror = (error) => {
      // After half a message, nothing else can be read from a process's pipe.
      if (error instanceof MessageTooLarge && this.#target.kind === "stdio")
        this.#ended.abort(`was stopped: it ${error.message}`);
    };
    // oxlint-enable prefer-add-event-listener
    this.#client = client;
    await client.connect(this.#transport(), options);
    this.#isConnected = true;
  }

  #transport(): StdioClientTransport | StreamableHTTPClientTransport {
    const target = this.#target;
    if (target.kind === "http") {
      return new StreamableHTTPClientTransport(new URL(target.url), {
        requestInit: { headers: target.headers },
        fetch: boundedFetch,
      });
    }
    const { command, args, env, cwd } = target;
    const transport = new StdioClientTransport({
      command,
      args: [...args],
      env: { ...env },
      ...(cwd === undefined ? {} : { cwd }),
      stderr: "pipe",
    });
    // The SDK has no option for it. Its own buffer is joined with every piece that arrives, and does not count values.
    Object.assign(transport, { _readBuffer: new MessageBuffer() });
    transport.stderr?.on("data", (chunk: Buffer) => {
      this.#stderrTail = (this.#stderrTail + String(chunk)).slice(-stderrTailMax);
    });
    return transport;
  }

  #whyClosed(): string {
    const line = errorLine(this.#stderrTail, { orLast: !this.#isConnected });
    return line === "" ? "has ended" : `has ended: ${line}`;
  }
}

/** Does nothing if the server keeps no session. A server that refuses or is silent keeps it: nothing else can be done. */
async function endSession(transport: StreamableHTTPClientTransport): Promise<void> {
  await Promise.race([
    transport.terminateSession().catch(() => {}),
    sleep(endSessionMs, undefined, { ref: false }),
  ]);
}

/** The system's error for a program or folder that is not there. */
function isMissingFile(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ENOENT";
}

/** fetch() says only that it failed; its cause says why. */
function failureReason(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error instanceof MessageTooLarge) return `it ${error.message}`;
  return error.cause instanceof Error ? failureReason(error.cause) : printable(error.message);
}

/** The first line that speaks of an error. A program that has only just started may mean its last line as one. */
function errorLine(text: string, { orLast }: { orLast: boolean }): string {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  const found = lines.find((line) => /error|exception|fatal|panic/i.test(line));
  return printable((found ?? (orLast ? lines.at(-1) : undefined) ?? "").trim());
}

/** Without what could move a terminal's cursor, and without a full stop, because the text ends a sentence. */
function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}]+/gu, " ").replace(/\.$/, "");
}
