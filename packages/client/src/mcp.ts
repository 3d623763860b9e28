// `client.mcp`: the MCP servers of the app, which only its control address has.
import type { McpCallRequest, McpCallResult, McpServerList } from "@ingle/protocol";

import { hasList, hasText } from "./response-body.ts";
import type { CallOptions, Transport } from "./transport.ts";

/** Starts and calls are sent once and take any time: `maxRetries` and `timeoutMs` of the client do not apply to them. */
export interface McpTools {
  /** The servers of mcp.json, with the tools of those that run. Starts nothing. */
  list(options?: CallOptions): Promise<McpServerList>;
  /** Resolves with the list when the server is ready or has failed. */
  start(name: string, options?: CallOptions): Promise<McpServerList>;
  /** Ends the server and its running calls. */
  stop(name: string, options?: CallOptions): Promise<McpServerList>;
  /** Calls a tool. The signal cancels the call. Rejects with code `forbidden` if it needs an approval and has none. */
  call(call: McpCallRequest, options?: CallOptions): Promise<McpCallResult>;
}

const isServerList = (value: unknown): value is McpServerList => hasList(value, "data");
const isResult = (value: unknown): value is McpCallResult =>
  hasText(value, "status") && hasList(value, "content");

export function createMcp(transport: Transport): McpTools {
  const path = "/api/v1/mcp";
  const list: McpTools["list"] = ({ signal } = {}) =>
    transport.json({ method: "GET", path, signal }, isServerList);
  const command =
    (name: string): McpTools["start"] =>
    (server, { signal } = {}) =>
      transport.json(
        { method: "POST", path: `${path}/${name}`, body: { name: server }, signal, runsOnce: true },
        isServerList,
      );
  return {
    list,
    start: command("start"),
    stop: command("stop"),
    call: (body, { signal } = {}) =>
      transport.json({ method: "POST", path: `${path}/call`, body, signal, runsOnce: true }, isResult),
  };
}
