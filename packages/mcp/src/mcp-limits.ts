// The limits of MCP servers and of the calls of their tools. A file may change those in `McpLimits`.
import { z } from "zod";

/** Bytes of one message of a server: room for a few large images. Reading more at once would block the event loop for too long. */
export const messageBytesMax = 8 * 1024 * 1024;

/**
 * Values of one message: the parts of its lists and objects. Making objects of them and checking them takes the SDK about 50 ms, in
 * which nothing else runs. A hundred tools have some thousand.
 */
export const messageValuesMax = 100_000;

/** Sentences about tools of one server that are left out. */
export const problemsMax = 16;

/** Bytes of an mcp.json. */
export const configBytesMax = 1024 * 1024;

/** Characters of one tool's description and parameters as JSON: more would fill most contexts. */
export const toolCharactersMax = 32 * 1024;

/** Characters of a server's name. */
export const serverNameMax = 64;

/** Servers of a file, disabled ones among them. */
export const serversMax = 64;

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

export const McpLimits = z.strictObject({
  /** Tools of all servers together; the rest are left out. Each one takes some hundred tokens of the context. Default: 128. */
  tools: z.int().min(1).max(512).default(128),
  /** Milliseconds until a server must be ready; it may download itself first. Default: one minute. */
  startMs: z.int().min(1).max(hourMs).default(minuteMs),
  /** Milliseconds of one call. Default: two minutes. */
  callMs: z
    .int()
    .min(1)
    .max(hourMs)
    .default(2 * minuteMs),
  /** Characters of one call's result; the rest is cut. Default: 65,536. */
  resultCharacters: z.int().min(1).max(10_000_000).default(65_536),
  /** Images of one call's result; the rest are left out. Default: 4. */
  resultImages: z.int().min(0).max(64).default(4),
  /** How many replies to one message may call tools. Default: 25. */
  rounds: z.int().min(1).max(1_000).default(25),
});
export type McpLimits = z.output<typeof McpLimits>;
