// A connection to one running MCP server: lists its tools and calls them.
import { SdkError, SdkErrorCode, type Tool } from "@modelcontextprotocol/client";
import { Link, type LinkOptions } from "./link.ts";
import type { HttpServer, StdioServer } from "./mcp-config.ts";
import type { McpLimits } from "./mcp-limits.ts";
import { toToolOutput, type ToolOutput } from "./tool-output.ts";

/** A tool as its server describes it. */
export interface DescribedTool {
  name: string;
  title: string | undefined;
  description: string | undefined;
  /** A JSON schema that may be wrong in every way. */
  parameters: unknown;
}

export interface ConnectionOptions {
  limits: McpLimits;
  /** Aborts the start. */
  signal: AbortSignal;
}

export class ServerConnection implements AsyncDisposable {
  readonly tools: readonly DescribedTool[];
  readonly #name: string;
  readonly #limits: McpLimits;
  readonly #link: Link;

  private constructor(
    name: string,
    limits: McpLimits,
    { link, tools }: { link: Link; tools: readonly DescribedTool[] },
  ) {
    this.#name = name;
    this.#limits = limits;
    this.#link = link;
    this.tools = tools;
  }

  /** Starts the server, or connects to it, and lists its tools. The message of an error is the reason, without its subject. */
  static async open(
    name: string,
    target: StdioServer | HttpServer,
    { limits, signal }: ConnectionOptions,
  ): Promise<ServerConnection> {
    const deadline = AbortSignal.timeout(limits.startMs);
    const options = { signal: AbortSignal.any([signal, deadline]), timeout: limits.startMs };
    const link = new Link(target);
    try {
      await link.connect(options);
      const tools = await listTools(link, options);
      return new ServerConnection(name, limits, { link, tools: tools.map(describe) });
    } catch (error) {
      const why = deadline.aborted
        ? `was not ready within ${inSeconds(limits.startMs)}`
        : link.whyFailed(error);
      await link.close();
      throw new Error(why, { cause: error });
    }
  }

  /** Why the server has ended, as the end of a sentence about it; undefined while it has not. */
  get endedBecause(): string | undefined {
    return this.#link.endedBecause;
  }

  /** Rejects with the signal's reason, or with an error whose message is a sentence for the model. */
  async call(
    tool: string,
    args: Readonly<Record<string, unknown>>,
    signal: AbortSignal | undefined,
  ): Promise<ToolOutput> {
    signal?.throwIfAborted();
    if (this.endedBecause !== undefined) throw this.#failure(this.endedBecause);
    const { callMs } = this.#limits;
    const cancelled = AbortSignal.any([this.#link.ended, ...(signal === undefined ? [] : [signal])]);
    try {
      const result = await this.#link.client.callTool(
        { name: tool, arguments: args },
        { signal: cancelled, timeout: callMs, maxTotalTimeout: callMs },
      );
      return toToolOutput(result);
    } catch (error) {
      signal?.throwIfAborted();
      const isTooSlow = this.endedBecause === undefined && isTimeout(error);
      throw this.#failure(
        isTooSlow ? `did not answer within ${inSeconds(callMs)}` : this.#link.whyFailed(error),
      );
    }
  }

  /** Ends the server's process, at first by closing its stdin. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#link.close();
  }

  #failure(why: string): Error {
    return new Error(`The MCP server ${JSON.stringify(this.#name)} ${why}.`);
  }
}

/** All pages of the list. A server that has no tools at all must not be asked for them. */
async function listTools({ client }: Link, options: LinkOptions): Promise<readonly Tool[]> {
  if (client.getServerCapabilities()?.tools === undefined) return [];
  return (await client.listTools({}, options)).tools;
}

function describe({ name, title, description, inputSchema }: Tool): DescribedTool {
  return { name, title, description, parameters: inputSchema };
}

function inSeconds(ms: number): string {
  return `${ms / 1_000} s`;
}

function isTimeout(error: unknown): boolean {
  return error instanceof SdkError && error.code === SdkErrorCode.RequestTimeout;
}
