// /api/v1/mcp: the MCP servers of the user's mcp.json. Only the app's control address has these routes: they start programs of the
// user, so that a key, a tunnel or a proxy is not enough for them.
import { McpCallRequest, McpCallResult, McpServerList, McpServerRequest } from "@ingle/protocol";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { McpControl } from "../../mcp/mcp-control.ts";
import type { ModelRegistry } from "../../models/registry.ts";
import { toManagedModel } from "./managed-model.ts";
import { WireError } from "../../wire-error.ts";
import { addRoute, type Route } from "../../http/add-route.ts";

const list = {
  path: "GET /api/v1/mcp",
  right: "management",
  summary: "List the MCP servers of mcp.json, with the tools of those that run",
  description: "Reads the file; starts nothing.",
  responses: { 200: McpServerList },
} satisfies Route;
const command = {
  right: "management",
  body: McpServerRequest,
  responses: { 200: McpServerList },
  errors: ["not_found"],
  namesNoModel: true,
  example: { name: "none" },
} satisfies Partial<Route>;
const start = {
  ...command,
  path: "POST /api/v1/mcp/start",
  summary: "Start an MCP server",
  description: "Responds when it is ready or has failed.",
} satisfies Route;
const stop = {
  ...command,
  path: "POST /api/v1/mcp/stop",
  summary: "Stop an MCP server, with its running calls",
} satisfies Route;
const call = {
  path: "POST /api/v1/mcp/call",
  right: "management",
  body: McpCallRequest,
  summary: "Call a tool of an MCP server that runs",
  description: "Ending the request cancels the call.",
  responses: { 200: McpCallResult },
  errors: ["model_not_found", "overloaded"],
  example: { server: "none", tool: "none", arguments: {}, approval: "no" },
} satisfies Route;

interface McpRouteOptions {
  mcp: McpControl;
  registry: ModelRegistry;
}

export async function mcpRoutes(app: FastifyInstance, { mcp, registry }: McpRouteOptions): Promise<void> {
  app.addHook("preHandler", async (request) => requireThisMachine(request));
  addRoute(app, list, async () => await mcp.list());
  addRoute(app, start, async (request) => {
    await mcp.start(request.body.name);
    return await mcp.list();
  });
  addRoute(app, stop, async (request) => {
    await mcp.stop(request.body.name);
    return await mcp.list();
  });
  addRoute(app, call, async (request) => {
    const { body, clientSignal } = request;
    const { capabilities, context_length: contextLength } = toManagedModel(await registry.known(body.model));
    const readsImages = capabilities.includes("vision");
    return await mcp.call(body, { readsImages, contextLength: contextLength ?? undefined }, clientSignal);
  });
}

function requireThisMachine({ isOfThisMachine }: Pick<FastifyRequest, "isOfThisMachine">): void {
  if (isOfThisMachine) return;
  throw new WireError(
    "forbidden",
    "Only programs and pages on the app's own machine can use its MCP servers.",
  );
}
