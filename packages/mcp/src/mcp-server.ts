// One server of the file: it is started and stopped, and its tools are called if that is allowed.
import { setImmediate as nextTurn } from "node:timers/promises";
import { checkTool, type Tool } from "@ingle/engine";
import { Approvals, type AskUser, type CallRequest } from "./approvals.ts";
import type { ServerConfig } from "./mcp-config.ts";
import { problemsMax, toolCharactersMax, type McpLimits } from "./mcp-limits.ts";
import { ServerConnection, type DescribedTool } from "./server-connection.ts";
import type { ToolOutput } from "./tool-output.ts";

/**
 * `stopped`: not started, or stopped again; `starting`: not ready yet; `ready`: its tools can be called; `failed`: it did not start;
 * `ended`: it was ready, and is gone; `disabled`: the file says that it is not to be started.
 */
export type McpServerState = "stopped" | "starting" | "ready" | "failed" | "ended" | "disabled";

/** A tool by its own name, as models can be told of it. */
interface CheckedTool extends Omit<Tool, "name"> {
  tool: string;
  title: string | undefined;
}

export class McpServer {
  #config: ServerConfig;
  #phase: "stopped" | "starting" | "ready" | "failed" = "stopped";
  #problems: string[] = [];
  #tools: readonly CheckedTool[] = [];
  #connection: ServerConnection | undefined;
  #approvals = new Approvals();
  #stop = new AbortController();
  /** Never rejects. */
  #starting: Promise<void> = Promise.resolve();

  constructor(config: ServerConfig) {
    this.#config = config;
  }

  get name(): string {
    return this.#config.name;
  }

  get kind(): ServerConfig["target"]["kind"] {
    return this.#config.target.kind;
  }

  get state(): McpServerState {
    if (this.#connection?.endedBecause !== undefined) return "ended";
    const isRunning = this.#phase === "starting" || this.#phase === "ready";
    return this.#config.isDisabled && !isRunning ? "disabled" : this.#phase;
  }

  /** Why it failed or ended, and which of its tools are left out, as sentences. */
  get problems(): readonly string[] {
    const ended = this.#connection?.endedBecause;
    return ended === undefined ? this.#problems : [`It ${ended}.`, ...this.#problems];
  }

  /** Those that the model may see. */
  get tools(): readonly CheckedTool[] {
    return this.#tools;
  }

  /** Takes a changed entry of the file. While it runs, it keeps the one with which it was started. */
  update(config: ServerConfig): void {
    const { state } = this;
    if (state !== "starting" && state !== "ready") this.#config = config;
  }

  /** Resolves when it is ready, has failed or was stopped; at once if the file disables it. Never rejects. */
  async start(limits: McpLimits): Promise<void> {
    const { state } = this;
    if (state === "disabled" || state === "ready") return;
    if (state !== "starting") {
      const before = this.#connection;
      this.#reset("starting");
      this.#starting = this.#open(limits, before);
    }
    await this.#starting;
  }

  /** Aborts a start and running calls, ends the server, and forgets what the user has always allowed. */
  async stop(): Promise<void> {
    this.#stop.abort(new Error("The MCP servers are stopped."));
    await this.#starting;
    await this.#connection?.[Symbol.asyncDispose]();
    this.#reset("stopped");
  }

  /** Whether a call of this tool runs without being asked for. */
  isAllowed(tool: string): boolean {
    return this.#approvals.isAllowed(this.#config, tool);
  }

  /** Rejects as `McpServers.call()` does. */
  async call(
    { tool, arguments: args }: CallRequest,
    { ask, signal }: { ask: AskUser; signal?: AbortSignal | undefined },
  ): Promise<ToolOutput> {
    if (this.#connection === undefined)
      throw new Error(`The MCP server ${JSON.stringify(this.name)} is not running.`);
    await this.#approvals.check(this.#config, { server: this.name, tool, arguments: args }, { ask, signal });
    return this.#connection.call(tool, args, signal);
  }

  #reset(phase: "stopped" | "starting"): void {
    this.#phase = phase;
    this.#problems = [];
    this.#tools = [];
    this.#connection = undefined;
    this.#approvals = new Approvals();
    this.#stop = new AbortController();
  }

  async #open(limits: McpLimits, before: ServerConnection | undefined): Promise<void> {
    const { name, target, offers } = this.#config;
    try {
      await before?.[Symbol.asyncDispose]();
      if (target.kind === "invalid") throw new Error(`has a wrong entry: ${target.problem}`);
      this.#connection = await ServerConnection.open(name, target, { limits, signal: this.#stop.signal });
      const offered = this.#connection.tools.filter((tool) => offers(tool.name));
      this.#tools = await usable(offered, limits, this.#problems);
      this.#phase = "ready";
    } catch (error) {
      this.#phase = "failed";
      this.#problems.push(`It ${error instanceof Error ? error.message : String(error)}.`);
    }
  }
}

/**
 * Those that models can be told of, up to the limit of all servers together. Adds a sentence for those that are left out. Many tools
 * are checked in several turns of the event loop.
 */
async function usable(
  offered: readonly DescribedTool[],
  limits: McpLimits,
  problems: string[],
): Promise<readonly CheckedTool[]> {
  const tools: CheckedTool[] = [];
  const wrong: string[] = [];
  let seen = 0;
  for (const tool of offered) {
    if (tools.length === limits.tools) break;
    seen += 1;
    const found = checked(tool);
    if (typeof found === "string") wrong.push(found);
    else tools.push(found);
    await nextTurn();
  }
  problems.push(...wrong.slice(0, problemsMax));
  if (wrong.length > problemsMax)
    problems.push(`${wrong.length - problemsMax} more of its tools are left out for such reasons.`);
  if (seen < offered.length)
    problems.push(`${offered.length - seen} more of its tools are left out: the limit is ${limits.tools}.`);
  return tools;
}

/** The tool, or why models cannot be told of it. */
function checked({ name: tool, title, description, parameters }: DescribedTool): CheckedTool | string {
  try {
    const length = JSON.stringify([tool, title, description, parameters]).length;
    if (length > toolCharactersMax)
      throw new Error(
        `its name, description and parameters have ${length} characters, the limit is ${toolCharactersMax}.`,
      );
    const { name: _name, ...rest } = checkTool({ name: "tool", description, parameters });
    return { ...rest, tool, title };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return `The tool ${JSON.stringify(tool.slice(0, shownNameMax))} is left out: ${why}`;
  }
}

/** Characters of a tool's name in a sentence. */
const shownNameMax = 64;
