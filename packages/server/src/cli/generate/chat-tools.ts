// The tools of `ingle chat`: those of the MCP servers in mcp.json. Each call is shown, and asked for unless a rule allows it.
import type { ChatSessionOptions, Model, SessionTool } from "@ingle/engine";
import type { Approval, AskUser, McpConfig, McpServers, McpServerView } from "@ingle/mcp";
import { mcpFile, noMcpFile } from "../../mcp/mcp-file.ts";
import { CliError, exitCodes } from "../errors.ts";
import type { CommandContext } from "../context.ts";
import { formatColumns } from "../text.ts";
import type { ChatInput } from "./chat-input.ts";

/** Characters of a call's arguments that are shown; the number of the rest is. */
const shownMax = 2_000;

const answers: Readonly<Record<string, Approval>> = {
  y: "once",
  yes: "once",
  n: "no",
  no: "no",
  a: "always",
  always: "always",
};

/** Where calls are shown and asked for. */
interface CallScreen {
  input: ChatInput;
  stderr: CommandContext["stderr"];
  /** Ends the line of the reply that is being written. */
  endLine: () => void;
}

/** Its servers start at once, and end when it is disposed. Without a file there are none. */
export class ChatTools implements AsyncDisposable {
  readonly #servers: McpServers | undefined;

  private constructor(servers: McpServers | undefined) {
    this.#servers = servers;
  }

  /** Throws CliError if the file is not usable, or is missing although it was named. */
  static async open(named: string | undefined, context: CommandContext): Promise<ChatTools> {
    const config = await readConfig(named, context);
    if (config === undefined) return new ChatTools(undefined);
    const { McpServers: Servers } = await import("@ingle/mcp");
    return new ChatTools(new Servers(config));
  }

  /** Waits until the servers are ready or have failed, and says which. Rejects if the command is stopped meanwhile. */
  async started({ stderr, shutdown }: CommandContext): Promise<void> {
    const servers = this.#servers;
    if (servers === undefined) return;
    const starting = servers.list().filter(({ state }) => state === "starting");
    if (starting.length > 0)
      stderr.write(`Starting the MCP servers: ${starting.map(({ name }) => name).join(", ")}\n`);
    await Promise.race([servers.started, shutdown.requested()]);
    shutdown.signal.throwIfAborted();
    stderr.write(serverReport(servers.list()));
  }

  /** What a session of this model needs. Only after `started()`. */
  async sessionOptions(
    model: Model,
    screen: CallScreen,
  ): Promise<Pick<ChatSessionOptions, "tools" | "toolRoundsMax">> {
    if (this.#servers === undefined) return {};
    const { chatTools } = await import("@ingle/mcp");
    const { readsImages, contextLength } = model.info;
    const tools = chatTools(this.#servers, { ask: asking(screen), readsImages, contextLength });
    return { tools: tools.map((tool) => shown(tool, screen)), toolRoundsMax: this.#servers.limits.rounds };
  }

  /** The answer to /tools. */
  describe(): string {
    const servers = this.#servers?.list() ?? [];
    if (servers.length === 0) return "There are no tools. They come from the MCP servers in mcp.json.\n";
    return servers.map(describeServer).join("");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#servers?.[Symbol.asyncDispose]();
  }
}

async function readConfig(
  named: string | undefined,
  { env, engine }: CommandContext,
): Promise<McpConfig | undefined> {
  const { configDir } = (await engine()).libraryPaths(env);
  const file = mcpFile(named, { env, configDir });
  if (file === undefined) return undefined;
  const { McpConfigError, readMcpConfig } = await import("@ingle/mcp");
  try {
    return await readMcpConfig(file.path, env);
  } catch (cause) {
    if (!(cause instanceof McpConfigError)) throw cause;
    if (cause.isMissing && !file.isNamed) return undefined;
    const advice = `Correct the file, or use "--mcp ${noMcpFile}" to chat without tools.`;
    throw new CliError(`${cause.message} ${advice}`, { exitCode: exitCodes.usage, cause });
  }
}

function serverReport(servers: readonly McpServerView[]): string {
  const problems = servers.flatMap(({ name, state, problems: sentences }) => [
    ...sentences.map((sentence) => `MCP server ${name}: ${printable(sentence)}`),
    ...(state === "failed" ? ["The chat goes on without it."] : []),
  ]);
  const counts = servers.flatMap(({ name, tools }) =>
    tools.length === 0 ? [] : [`${tools.length} of ${name}`],
  );
  const summary = counts.length === 0 ? [] : [`Tools: ${counts.join(", ")}. /tools lists them.`];
  return [...problems, ...summary].map((line) => `${line}\n`).join("");
}

function describeServer({ name, state, problems, tools }: McpServerView): string {
  const rows = tools.map((tool): [string, string] => [
    `  ${tool.name}`,
    tool.isAllowed ? "allowed" : "asks first",
  ]);
  const sentences = problems.map((sentence) => `  ${printable(sentence)}\n`).join("");
  return `${name}: ${state}\n${sentences}${formatColumns(rows)}`;
}

/** The tool, whose calls and results are shown in short. */
function shown(tool: SessionTool, { stderr, endLine }: CallScreen): SessionTool {
  return {
    ...tool,
    run: async (args, context) => {
      endLine();
      stderr.write(`Call of ${tool.name}: ${shortened(printable(JSON.stringify(args)))}\n`);
      try {
        const content = await tool.run(args, context);
        const parts = typeof content === "string" ? [{ type: "text" as const, text: content }] : content;
        const characters = parts.reduce(
          (sum, part) => sum + (part.type === "text" ? part.text.length : 0),
          0,
        );
        const images = parts.filter(({ type }) => type === "image").length;
        stderr.write(`It returned ${characters} characters${images === 0 ? "" : ` and ${images} images`}.\n`);
        return content;
      } catch (error) {
        if (context.signal?.aborted !== true)
          stderr.write(`${printable(error instanceof Error ? error.message : String(error))}\n`);
        throw error;
      }
    },
  };
}

function asking({ input, stderr }: CallScreen): AskUser {
  return async ({ server, tool }, { signal = new AbortController().signal }) => {
    if (!input.canAsk) {
      stderr.write("Nobody can be asked here. A rule in mcp.json can allow a tool.\n");
      return "no";
    }
    const question = `Run ${printable(tool)} of ${printable(server)}? [y]es, [n]o, [a]lways in this chat: `;
    for (;;) {
      const answer = await input.ask(question, { signal });
      const approval = answer === undefined ? "no" : answers[answer.trim().toLowerCase()];
      if (approval !== undefined) return approval;
    }
  };
}

/** Without characters that could change what a terminal shows. */
function printable(text: string): string {
  return text.replace(
    /[\p{Cc}\p{Cf}\u2028\u2029]/gu,
    (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`,
  );
}

function shortened(text: string): string {
  const left = text.length - shownMax;
  return left <= 0 ? text : `${text.slice(0, shownMax)}… and ${left} more characters`;
}
