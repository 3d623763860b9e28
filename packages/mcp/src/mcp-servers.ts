// The MCP servers of a file: starts them, names their tools for the model, and runs calls that are allowed.
import type { Tool } from "@ingle/engine";
import type { AskUser, CallRequest } from "./approvals.ts";
import type { McpConfig, ServerConfig } from "./mcp-config.ts";
import type { McpLimits } from "./mcp-limits.ts";
import { McpServer, type McpServerState } from "./mcp-server.ts";
import { uniqueNames } from "./tool-names.ts";
import { withinLimits, type ToolOutput } from "./tool-output.ts";

/** A tool that the model may call. */
export interface McpTool extends Tool {
  /** The server that has it. */
  server: string;
  /** Its name on the server. */
  tool: string;
  /** Its name for people, if the server has given one. */
  title: string | undefined;
}

export interface McpServerView {
  name: string;
  kind: ServerConfig["target"]["kind"];
  state: McpServerState;
  /** Why it failed or ended, and which of its tools are left out, as sentences. */
  problems: readonly string[];
  /** Those that the model may call. */
  tools: readonly (McpTool & { isAllowed: boolean })[];
}

export interface McpServersOptions {
  /** Whether all servers start at once. If false, `start()` starts each of them. Default: true. */
  startsAll?: boolean | undefined;
}

export interface CallOptions {
  /** Called if no rule and no earlier answer allows the call. */
  ask: AskUser;
  /** Cancels the question or the call. */
  signal?: AbortSignal | undefined;
  /** Cuts the result's text further than the limits do. Default: no further. */
  resultCharacters?: number | undefined;
}

/** Its servers end when it is disposed. */
export class McpServers implements AsyncDisposable {
  /** Resolves when every server that starts at once is ready or has failed. Never rejects. */
  readonly started: Promise<void>;
  #limits: McpLimits;
  #servers: readonly McpServer[];
  #tools: readonly McpTool[] = [];
  /** By server: how many of its tools are more than the limit of all servers. */
  #leftOut: ReadonlyMap<string, number> = new Map();

  constructor({ servers, limits }: McpConfig, { startsAll = true }: McpServersOptions = {}) {
    this.#limits = limits;
    this.#servers = servers.map((config) => new McpServer(config));
    this.started = startsAll ? this.#start(this.#servers) : Promise.resolve();
  }

  get limits(): McpLimits {
    return this.#limits;
  }

  /** The tools that the model may call, with different names. Complete once the servers have `started`. */
  get tools(): readonly McpTool[] {
    return this.#tools;
  }

  list(): McpServerView[] {
    return this.#servers.map((server) => {
      const { name, kind, state } = server;
      const tools = this.#tools.filter((tool) => tool.server === name);
      const leftOut = this.#leftOut.get(name) ?? 0;
      const tooMany = `${leftOut} of its tools are left out: the limit is ${this.#limits.tools} of all servers together.`;
      return {
        name,
        kind,
        state,
        problems: leftOut === 0 ? server.problems : [...server.problems, tooMany],
        tools: tools.map((tool) => ({ ...tool, isAllowed: server.isAllowed(tool.tool) })),
      };
    });
  }

  /** Takes the file as it is now. Running servers keep their entries until they are stopped, even if the file has lost them. */
  update({ servers, limits }: McpConfig): void {
    const known = new Map(this.#servers.map((server) => [server.name, server]));
    const listed = servers.map((config) => {
      const server = known.get(config.name) ?? new McpServer(config);
      server.update(config);
      return server;
    });
    const names = new Set(servers.map(({ name }) => name));
    const running = this.#servers.filter(
      ({ name, state }) => !names.has(name) && (state === "starting" || state === "ready"),
    );
    this.#limits = limits;
    this.#servers = [...listed, ...running];
    this.#nameTools();
  }

  /** Resolves when the server is ready or has failed; at once if the file disables it. Throws if there is none with this name. */
  async start(name: string): Promise<void> {
    await this.#start([this.#server(name)]);
  }

  /**
   * Ends the server, its start and its running calls, and forgets what the user has always allowed it. Throws if there is none with
   * this name.
   */
  async stop(name: string): Promise<void> {
    await this.#server(name).stop();
    this.#nameTools();
  }

  /**
   * Calls the tool with this name of `tools`, if that is allowed. Rejects with CallRefusedError if it is not, with the signal's
   * reason, or with an error whose message is a sentence for the model.
   */
  async call(
    name: string,
    args: Readonly<Record<string, unknown>>,
    options: CallOptions,
  ): Promise<ToolOutput> {
    const called = this.#tools.find((tool) => tool.name === name);
    if (called === undefined) throw new Error(`There is no tool ${JSON.stringify(name)}.`);
    const { server, tool } = called;
    return this.callOnServer({ server, tool, arguments: args }, options);
  }

  /** The same for a tool by its server and its name there, which stay the same when other servers start. */
  async callOnServer(call: CallRequest, options: CallOptions): Promise<ToolOutput> {
    const { server, tool } = call;
    const isOffered = this.#tools.some((offered) => offered.server === server && offered.tool === tool);
    if (!isOffered)
      throw new Error(
        `There is no tool ${JSON.stringify(tool)} of the MCP server ${JSON.stringify(server)}.`,
      );
    const output = await this.#server(server).call(call, options);
    const { resultCharacters = Infinity } = options;
    return withinLimits(output, {
      ...this.#limits,
      resultCharacters: Math.min(resultCharacters, this.#limits.resultCharacters),
    });
  }

  /** Aborts starts and running calls, and ends the servers. */
  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#servers.map((server) => server.stop()));
    await this.started;
  }

  #server(name: string): McpServer {
    const found = this.#servers.find((server) => server.name === name);
    if (found === undefined) throw new Error(`There is no MCP server ${JSON.stringify(name)}.`);
    return found;
  }

  async #start(servers: readonly McpServer[]): Promise<void> {
    await Promise.all(servers.map((server) => server.start(this.#limits)));
    this.#nameTools();
  }

  /** Gives as many tools as the limit allows names of their own. */
  #nameTools(): void {
    const all = this.#servers.flatMap(({ name, tools }) => tools.map((tool) => ({ ...tool, server: name })));
    const kept = all.slice(0, this.#limits.tools);
    const names = uniqueNames(kept);
    const leftOut = new Map<string, number>();
    for (const { server } of all.slice(this.#limits.tools))
      leftOut.set(server, (leftOut.get(server) ?? 0) + 1);
    this.#tools = kept.map((tool, index) => ({ ...tool, name: names[index] ?? "" }));
    this.#leftOut = leftOut;
  }
}
