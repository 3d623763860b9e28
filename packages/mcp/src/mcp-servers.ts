// The MCP servers of a file: starts them, names their tools for the model, and runs calls that are allowed.
import { checkTool, type Tool } from "@ingle/engine";
import { Approvals, type Ask } from "./approvals.ts";
import type { McpConfig, ServerConfig } from "./mcp-config.ts";
import { toolCharactersMax, type McpLimits } from "./mcp-limits.ts";
import { ServerConnection, type DescribedTool } from "./server-connection.ts";
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

/**
 * `starting`: not ready yet; `ready`: its tools can be called; `failed`: it did not start; `ended`: it was ready, and is gone;
 * `disabled`: the file says so.
 */
export type McpServerState = "starting" | "ready" | "failed" | "ended" | "disabled";

export interface McpServerView {
  name: string;
  kind: ServerConfig["target"]["kind"];
  state: McpServerState;
  /** Why it failed or ended, and which of its tools are left out, as sentences. */
  problems: readonly string[];
  /** Those that the model may call. */
  tools: readonly (McpTool & { isAllowed: boolean })[];
}

export interface CallOptions {
  /** Called if no rule and no earlier answer allows the call. */
  ask: Ask;
  /** Cancels the question or the call. */
  signal?: AbortSignal | undefined;
  /** Cuts the result's text further than the limits do. Default: no further. */
  resultCharacters?: number | undefined;
}

/** One server of the file. */
interface Member {
  readonly config: ServerConfig;
  state: Exclude<McpServerState, "ended">;
  connection: ServerConnection | undefined;
  /** By their own names. */
  tools: readonly CheckedTool[];
  problems: string[];
}

type CheckedTool = Omit<McpTool, "name" | "server">;

/** The servers start when this is created, all at once, and end when it is disposed. */
export class McpServers implements AsyncDisposable {
  readonly limits: McpLimits;
  /** Resolves when every server is ready or has failed. Never rejects. */
  readonly started: Promise<void>;
  readonly #members: readonly Member[];
  readonly #approvals = new Approvals();
  readonly #stop = new AbortController();
  #tools: readonly McpTool[] = [];

  constructor({ servers, limits }: McpConfig) {
    this.limits = limits;
    this.#members = servers.map(toMember);
    this.started = this.#start();
  }

  /** The tools that the model may call, with different names. Complete once the servers have `started`. */
  get tools(): readonly McpTool[] {
    return this.#tools;
  }

  list(): McpServerView[] {
    return this.#members.map(({ config, connection, state, problems }) => {
      const ended = connection?.endedBecause;
      const tools = this.#tools.filter(({ server }) => server === config.name);
      return {
        name: config.name,
        kind: config.target.kind,
        state: ended === undefined ? state : "ended",
        problems: ended === undefined ? problems : [`It ${ended}.`, ...problems],
        tools: tools.map((tool) => ({ ...tool, isAllowed: this.#approvals.isAllowed(config, tool.tool) })),
      };
    });
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
    const member = this.#members.find(({ config }) => config.name === called?.server);
    if (called === undefined || member?.connection === undefined)
      throw new Error(`There is no tool ${JSON.stringify(name)}.`);
    const { server, tool } = called;
    await this.#approvals.check(member.config, { server, tool, arguments: args }, options);
    const output = await member.connection.call(tool, args, options.signal);
    const { resultCharacters = Infinity } = options;
    return withinLimits(output, {
      ...this.limits,
      resultCharacters: Math.min(resultCharacters, this.limits.resultCharacters),
    });
  }

  /** Aborts starts and running calls, and ends the servers. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort(new Error("The MCP servers are stopped."));
    await this.started;
    await Promise.all(this.#members.map(async ({ connection }) => connection?.[Symbol.asyncDispose]()));
  }

  async #start(): Promise<void> {
    await Promise.all(this.#members.map((member) => this.#startOne(member)));
    this.#tools = this.#named();
  }

  async #startOne(member: Member): Promise<void> {
    const { config } = member;
    const { name, target } = config;
    if (member.state === "disabled") return;
    try {
      if (target.kind === "invalid") throw new Error(`has a wrong entry: ${target.problem}`);
      const options = { limits: this.limits, signal: this.#stop.signal };
      member.connection = await ServerConnection.open(name, target, options);
      const offered = member.connection.tools.filter((tool) => config.offers(tool.name));
      member.tools = offered.flatMap((tool) => checked(tool, member.problems));
      member.state = "ready";
    } catch (error) {
      member.state = "failed";
      member.problems.push(`It ${error instanceof Error ? error.message : String(error)}.`);
    }
  }

  /** All tools under names of their own, as many as the limit allows. */
  #named(): McpTool[] {
    const all = this.#members.flatMap(({ config, tools }) =>
      tools.map((tool) => ({ ...tool, server: config.name })),
    );
    const names = uniqueNames(all);
    const tools = all.map((tool, index) => ({ ...tool, name: names[index] ?? "" }));
    for (const member of this.#members) {
      const left = tools.slice(this.limits.tools).filter(({ server }) => server === member.config.name);
      if (left.length > 0) {
        member.problems.push(
          `${left.length} of its tools are left out: the limit is ${this.limits.tools} of all servers together.`,
        );
      }
    }
    return tools.slice(0, this.limits.tools);
  }
}

function toMember(config: ServerConfig): Member {
  const state = config.isDisabled ? "disabled" : "starting";
  return { config, state, connection: undefined, tools: [], problems: [] };
}

/** The tool, or none if models cannot be told of it; then the problem is added. */
function checked(
  { name: tool, title, description, parameters }: DescribedTool,
  problems: string[],
): CheckedTool[] {
  try {
    const length = JSON.stringify([description, parameters]).length;
    if (length > toolCharactersMax)
      throw new Error(
        `its description and parameters have ${length} characters, the limit is ${toolCharactersMax}.`,
      );
    const { name: _name, ...rest } = checkTool({ name: "tool", description, parameters });
    return [{ ...rest, tool, title }];
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    problems.push(`The tool ${JSON.stringify(tool)} is left out: ${why}`);
    return [];
  }
}
