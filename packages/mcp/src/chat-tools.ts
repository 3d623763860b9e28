// Adapts the tools of MCP servers for a chat session: their results become texts and decoded images.
import { decodeImage, type ContentPart, type Message, type SessionTool } from "@ingle/engine";
import type { Ask } from "./approvals.ts";
import type { McpServers } from "./mcp-servers.ts";
import type { ToolOutput, ToolOutputPart } from "./tool-output.ts";

export interface ChatToolsOptions {
  /** Called for each call that nothing has allowed yet. */
  ask: Ask;
  /** Whether the model sees images: `model.info.readsImages`. Other models get a text in their place. Default: false. */
  readsImages?: boolean | undefined;
  /** The model's context in tokens. A result gets no more characters than that, about a third of it. Default: only the limits. */
  contextLength?: number | undefined;
}

/** For `tools` of a ChatSession. Call it when the servers have `started`. */
export function chatTools(
  servers: McpServers,
  { ask, readsImages = false, contextLength }: ChatToolsOptions,
): SessionTool[] {
  return servers.tools.map(({ name, description, parameters }) => ({
    name,
    description,
    parameters,
    run: async (args, { signal }) => {
      const output = await servers.call(name, args, { ask, signal, resultCharacters: contextLength });
      return toContent(output, readsImages, signal);
    },
  }));
}

async function toContent(
  { content, isError }: ToolOutput,
  readsImages: boolean,
  signal: AbortSignal | undefined,
): Promise<Message["content"]> {
  const parts = await Promise.all(content.map((part) => toContentPart(part, readsImages, signal)));
  const all: ContentPart[] = isError ? [{ type: "text", text: "Error:" }, ...parts] : parts;
  const hasImages = all.some(({ type }) => type === "image");
  return hasImages ? all : all.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
}

async function toContentPart(
  part: ToolOutputPart,
  readsImages: boolean,
  signal: AbortSignal | undefined,
): Promise<ContentPart> {
  if (part.type === "text") return part;
  if (!readsImages) return { type: "text", text: `[Left out: an image, which this model cannot see]` };
  try {
    return { type: "image", image: await decodeImage(Buffer.from(part.data, "base64"), { signal }) };
  } catch (error) {
    signal?.throwIfAborted();
    return {
      type: "text",
      text: `[Left out: an image. ${error instanceof Error ? error.message : String(error)}]`,
    };
  }
}
