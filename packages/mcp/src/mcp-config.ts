// Reads mcp.json, in the form that Claude Desktop, Cursor, LM Studio and others share. Its other fields are ignored, because several
// programs may use one file.
import { readFile, stat } from "node:fs/promises";
import { z } from "zod";
import { configBytesMax, McpLimits, serverNameMax, serversMax } from "./mcp-limits.ts";

const Names = z.array(z.string()).default([]);
const Texts = z.record(z.string(), z.string()).default({});

const Entry = z.object({
  type: z.string().optional(),
  command: z.string().min(1).optional(),
  args: z.array(z.string()).default([]),
  env: Texts,
  cwd: z.string().min(1).optional(),
  url: z.string().optional(),
  headers: Texts,
  disabled: z.boolean().default(false),
  /** Tools that run without being asked for; `*` means all of the server. */
  alwaysAllow: Names,
  /** Cline's name for `alwaysAllow`. */
  autoApprove: Names,
  /** Tools that the model does not see. */
  disabledTools: Names,
});

const ConfigFile = z.object({
  mcpServers: z
    .record(z.string().min(1).max(serverNameMax), z.unknown())
    .refine((servers) => Object.keys(servers).length <= serversMax, `at most ${serversMax} servers`),
  limits: McpLimits.prefault({}),
});

export interface StdioServer {
  kind: "stdio";
  command: string;
  args: readonly string[];
  /** Set for the server beside a few variables such as PATH and HOME. It gets no others of this process. */
  env: Readonly<Record<string, string>>;
  cwd: string | undefined;
}

export interface HttpServer {
  kind: "http";
  url: string;
  headers: Readonly<Record<string, string>>;
}

export interface ServerConfig {
  name: string;
  isDisabled: boolean;
  /** How to reach it, or what is wrong with its entry. */
  target: StdioServer | HttpServer | { kind: "invalid"; problem: string };
  /** Whether a rule of the file allows the tool with this name to run without being asked for. */
  allows: (tool: string) => boolean;
  /** Whether the model may see the tool with this name. */
  offers: (tool: string) => boolean;
}

export interface McpConfig {
  servers: readonly ServerConfig[];
  limits: McpLimits;
}

/** The file is not usable at all; the message is a sentence that says why. */
export class McpConfigError extends Error {
  override readonly name = "McpConfigError";
  /** Whether there is no such file. */
  readonly isMissing: boolean;

  constructor(message: string, options: { cause?: unknown; isMissing?: boolean } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.isMissing = options.isMissing ?? false;
  }
}

/** The system's errors for a file that is not there, or whose folder is none. */
const missing = new Set<unknown>(["ENOENT", "ENOTDIR"]);

/** Reads an mcp.json as `parseMcpConfig` does. Throws McpConfigError, whose message then begins with the file's path. */
export async function readMcpConfig(file: string, env: NodeJS.ProcessEnv): Promise<McpConfig> {
  try {
    const { size } = await stat(file);
    if (size > configBytesMax) throw new McpConfigError(`It has more than ${configBytesMax} bytes.`);
    return parseMcpConfig(await readFile(file, "utf8"), env);
  } catch (cause) {
    const isMissing = cause instanceof Error && "code" in cause && missing.has(cause.code);
    const why = isMissing ? "There is no such file." : cause instanceof Error ? cause.message : String(cause);
    throw new McpConfigError(`${file}: ${why}`, { cause, isMissing });
  }
}

/**
 * Reads the text of an mcp.json. `${NAME}`, `${env:NAME}` and `${NAME:-default}` in its texts are replaced by environment variables.
 * A wrong entry is only that server's problem. Throws McpConfigError if the text is no JSON or has no `mcpServers`.
 */
export function parseMcpConfig(text: string, env: NodeJS.ProcessEnv): McpConfig {
  const read = ConfigFile.safeParse(parseJson(text));
  if (!read.success) throw new McpConfigError(`${describeIssue(read.error)}.`, { cause: read.error });
  const { mcpServers, limits } = read.data;
  return { servers: Object.entries(mcpServers).map(([name, entry]) => toServer(name, entry, env)), limits };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ""));
  } catch (cause) {
    throw new McpConfigError(`It is not JSON: ${cause instanceof Error ? cause.message : String(cause)}.`, {
      cause,
    });
  }
}

function describeIssue({ issues: [issue] }: z.ZodError): string {
  const place = issue?.path.join(".") ?? "";
  return place === "" ? `${issue?.message}` : `${place}: ${issue?.message}`;
}

function toServer(name: string, written: unknown, env: NodeJS.ProcessEnv): ServerConfig {
  const read = Entry.safeParse(written);
  if (!read.success) {
    const target = { kind: "invalid", problem: describeIssue(read.error) } as const;
    return { name, isDisabled: false, target, allows: () => false, offers: () => false };
  }
  const { disabled: isDisabled, alwaysAllow, autoApprove, disabledTools } = read.data;
  const allowed = new Set([...alwaysAllow, ...autoApprove]);
  const hidden = new Set(disabledTools);
  return {
    name,
    isDisabled,
    target: toTarget(read.data, env),
    allows: (tool) => allowed.has(tool) || allowed.has("*"),
    offers: (tool) => !hidden.has(tool),
  };
}

function toTarget(entry: z.output<typeof Entry>, env: NodeJS.ProcessEnv): ServerConfig["target"] {
  const { type, command, args, cwd, url, headers } = entry;
  const unset = new Set<string>();
  const fill = (text: string): string => filled(text, env, unset);
  const fillAll = (texts: Readonly<Record<string, string>>): Record<string, string> =>
    Object.fromEntries(Object.entries(texts).map(([key, text]) => [key, fill(text)]));
  const invalid = (problem: string) => ({ kind: "invalid", problem }) as const;

  if (type === "sse")
    return invalid("the old SSE transport is not supported; give the server's streamable HTTP URL");
  if ((command === undefined) === (url === undefined)) return invalid("it needs either a command or a url");
  const target: StdioServer | HttpServer =
    command === undefined
      ? { kind: "http", url: fill(url ?? ""), headers: fillAll(headers) }
      : { kind: "stdio", command: fill(command), args: args.map(fill), env: fillAll(entry.env), cwd };
  const [first] = unset;
  if (first !== undefined) return invalid(`the environment variable ${first} is not set`);
  if (target.kind === "http" && !isHttpUrl(target.url)) return invalid("its url is not an http or https URL");
  return target;
}

function isHttpUrl(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
}

/** `${NAME}` as in Claude Code, `${env:NAME}` as in Cursor and VS Code. */
const variable = /\$\{(?:env:)?([A-Za-z_]\w*)(?::-([^}]*))?\}/g;

function filled(text: string, env: NodeJS.ProcessEnv, unset: Set<string>): string {
  return text.replace(variable, (_whole, name: string, usual: string | undefined) => {
    const value = env[name] ?? usual;
    if (value === undefined) unset.add(name);
    return value ?? "";
  });
}
