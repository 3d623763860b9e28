// The MCP servers of the app, as it has last listed them, and which of their tools a chat offers to its models. Other servers than the
// app's have none.
import type { McpServer, McpServerList } from "@ingle/protocol";
import { computed, signal } from "@preact/signals";

import { client, session } from "../connection/connection.ts";
import type { ToolCall } from "../conversations/conversation.ts";
import type { WireTool } from "./chat-request.ts";

/** Whether this page is the app's own, which may use MCP servers. */
export const hasToolServers = computed(
  () => session.value?.is_app === true && session.value.right === "management",
);

/** Null until they are listed. */
export const toolServers = signal<McpServerList | null>(null);

/** Lists the servers again; starts nothing. */
export async function refreshToolServers(): Promise<void> {
  if (hasToolServers.value) toolServers.value = await client.mcp.list();
}

/** Resolves with whether the server is ready; its problems say why it is not. */
export async function startToolServer(name: string): Promise<boolean> {
  show(name, { state: "starting", problems: [] });
  try {
    toolServers.value = await client.mcp.start(name);
  } catch (error) {
    await refreshToolServers();
    throw error;
  }
  return isReady(name);
}

export async function stopToolServer(name: string): Promise<void> {
  toolServers.value = await client.mcp.stop(name);
}

export function isReady(name: string): boolean {
  return toolServers.value?.data.some((server) => server.name === name && server.state === "ready") ?? false;
}

type Place = NonNullable<ToolCall["place"]>;

interface OfferedTools {
  tools: WireTool[];
  /** How many replies to one message may call tools. */
  rounds: number;
  /** Where the tool with this name is. */
  findPlace: (name: string) => Place | undefined;
}

/** The tools of those of these servers that are ready. */
export function offeredTools(names: readonly string[]): OfferedTools {
  const servers =
    toolServers.value?.data.filter(({ name, state }) => names.includes(name) && state === "ready") ?? [];
  const places = new Map(
    servers.flatMap(({ name: server, tools }) =>
      tools.map(({ name, tool }) => [name, { server, tool }] as const),
    ),
  );
  return {
    tools: servers.flatMap(({ tools }) =>
      tools.map(({ name, description, parameters }) => ({
        type: "function" as const,
        function: {
          name,
          ...(description === null ? {} : { description }),
          ...(parameters === null ? {} : { parameters }),
        },
      })),
    ),
    rounds: toolServers.value?.rounds ?? 0,
    findPlace: (name) => places.get(name),
  };
}

/** Whether calls of this tool run without a question, as far as this page knows. */
export function isAllowed({ server, tool }: Place): boolean {
  const tools = toolServers.value?.data.find(({ name }) => name === server)?.tools ?? [];
  return tools.some((each) => each.tool === tool && each.allowed);
}

function show(name: string, change: Partial<McpServer>): void {
  if (toolServers.value === null) return;
  const data = toolServers.value.data.map((server) =>
    server.name === name ? { ...server, ...change } : server,
  );
  toolServers.value = { ...toolServers.value, data };
}
