// Adapts the tools of MCP servers for a chat session: their results become texts and decoded images.
import type { ContentPart, Message, SessionTool } from "@ingle/engine";
import type { AskUser } from "./approvals.ts";
import type { McpServers } from "./mcp-servers.ts";
import { modelContent, type ModelPart } from "./model-content.ts";

export interface ChatToolsOptions {
  /** Called for each call that nothing has allowed yet. */
  ask: AskUser;
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
      return toContent(await modelContent(output, { readsImages, signal }));
    },
  }));
}

function toContent(parts: readonly ModelPart[]): Message["content"] {
  const [first] = parts;
  if (parts.length === 1 && first?.type === "text") return first.text;
  return parts.map((part): ContentPart =>
    part.type === "text" ? part : { type: "image", image: part.image },
  );
}
