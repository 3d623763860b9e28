// The MCP servers of the app: those of the user's mcp.json, each of which starts when the page asks for it. The file is read again
// for each request, so that its changes count at once. The SDK is loaded with the first of them that is started or listed.
import type { Approval, McpConfig, McpServers, ModelPart } from "@ingle/mcp";
import type { McpCallRequest, McpCallResult, McpServerList } from "@ingle/protocol";
import type { McpFile } from "./mcp-file.ts";
import { WireError } from "../wire-error.ts";

/** Maximum number of calls at the same time, those of several chats and programs together. */
const callsMax = 16;

interface McpControlOptions {
  /** Undefined: tools are turned off. */
  file: McpFile | undefined;
  /** Replaces variables in the file. */
  env: NodeJS.ProcessEnv;
}

/** What the model that gets a result can read. */
interface ResultReader {
  readsImages: boolean;
  /** In tokens; undefined while it is not known. */
  contextLength: number | undefined;
}

export class McpControl implements AsyncDisposable {
  readonly #options: McpControlOptions;
  readonly #stop = new AbortController();
  #servers: Promise<McpServers> | undefined;
  #problem: string | null = null;
  #calls = 0;

  constructor(options: McpControlOptions) {
    this.#options = options;
  }

  /** Starts nothing. */
  async list(): Promise<McpServerList> {
    const servers = await this.#current();
    return {
      object: "list",
      data: servers.list().map(({ tools, problems, ...server }) => ({
        ...server,
        problems: [...problems],
        tools: tools.map(({ name, tool, title, description, parameters, isAllowed }) => ({
          name,
          tool,
          title: title ?? null,
          description: description ?? null,
          parameters: parameters === undefined ? null : { ...parameters },
          allowed: isAllowed,
        })),
      })),
      file: this.#options.file?.path ?? null,
      problem: this.#problem,
      rounds: servers.limits.rounds,
    };
  }

  /** Resolves when the server is ready or has failed; the list says which. Throws `not_found`, or `invalid_request` if it is disabled. */
  async start(name: string): Promise<void> {
    const servers = await this.#current();
    if (known(servers, name).state === "disabled")
      throw new WireError("invalid_request", `The file has "disabled": true for the MCP server ${name}.`);
    await servers.start(name);
  }

  /** Also ends its start and its running calls. Throws `not_found`. */
  async stop(name: string): Promise<void> {
    const servers = await this.#current();
    known(servers, name);
    await servers.stop(name);
  }

  /**
   * Runs a call that the user has approved, or that a rule of the file or an earlier approval allows. Throws `forbidden` if the
   * user has to be asked, `overloaded`, and the signal's reason; everything else is a result for the model.
   */
  async call(call: McpCallRequest, reader: ResultReader, signal: AbortSignal): Promise<McpCallResult> {
    if (this.#calls >= callsMax)
      throw new WireError(
        "overloaded",
        `${callsMax} calls of tools are running. Wait for one of them to end.`,
      );
    this.#calls += 1;
    try {
      return await this.#call(call, reader, signal);
    } finally {
      this.#calls -= 1;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort(new WireError("shutting_down", "The app is stopping."));
    await (await this.#servers)?.[Symbol.asyncDispose]();
  }

  async #call(
    { server, tool, arguments: args, approval }: McpCallRequest,
    { readsImages, contextLength }: ResultReader,
    signal: AbortSignal,
  ): Promise<McpCallResult> {
    const { CallRefusedError, modelContent } = await import("@ingle/mcp");
    const ask = async (): Promise<Approval> => {
      if (approval !== undefined) return approval;
      throw new WireError("forbidden", `The user has to approve calls of the tool ${tool}.`, {
        param: "approval",
      });
    };
    try {
      const servers = await this.#current();
      const options = { ask, signal, resultCharacters: contextLength };
      const output = await servers.callOnServer({ server, tool, arguments: args }, options);
      const parts = await modelContent(output, { readsImages, signal });
      return { status: output.isError ? "failed" : "done", content: parts.map(toContentPart) };
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof WireError) throw error;
      const text = `Error: ${error instanceof Error ? error.message : String(error)}`;
      const status = error instanceof CallRefusedError ? "refused" : "failed";
      return { status, content: [{ type: "text", text }] };
    }
  }

  /** The servers of the file as it is now. */
  async #current(): Promise<McpServers> {
    this.#stop.signal.throwIfAborted();
    const config = await this.#read();
    this.#servers ??= this.#create(config);
    const servers = await this.#servers;
    servers.update(config);
    return servers;
  }

  async #create(config: McpConfig): Promise<McpServers> {
    const { McpServers: Servers } = await import("@ingle/mcp");
    return new Servers(config, { startsAll: false });
  }

  /** A file that cannot be used has no servers, and a problem that the page shows; a missing one that nobody has named has neither. */
  async #read(): Promise<McpConfig> {
    const { file, env } = this.#options;
    const { McpConfigError, McpLimits, readMcpConfig } = await import("@ingle/mcp");
    this.#problem = null;
    try {
      if (file !== undefined) return await readMcpConfig(file.path, env);
    } catch (error) {
      if (!(error instanceof McpConfigError)) throw error;
      if (!error.isMissing || file?.isNamed === true) this.#problem = error.message;
    }
    return { servers: [], limits: McpLimits.parse({}) };
  }
}

function known(servers: McpServers, name: string) {
  const found = servers.list().find((server) => server.name === name);
  if (found !== undefined) return found;
  throw new WireError("not_found", `There is no MCP server ${JSON.stringify(name)} in the file.`, {
    param: "name",
  });
}

/** A media type of an image without parameters; anything else is not repeated in a URL. */
const imageType = /^image\/[\w.+-]{1,64}$/;

function toContentPart(part: ModelPart): McpCallResult["content"][number] {
  if (part.type === "text") return part;
  const type = imageType.test(part.mimeType) ? part.mimeType : "image/png";
  return { type: "image_url", image_url: { url: `data:${type};base64,${part.data}` } };
}
