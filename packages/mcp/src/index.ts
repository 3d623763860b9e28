// The public names of @ingle/mcp.
export { CallRefusedError, type Approval, type AskUser, type CallRequest } from "./approvals.ts";
export { chatTools, type ChatToolsOptions } from "./chat-tools.ts";
export {
  McpConfigError,
  parseMcpConfig,
  readMcpConfig,
  type HttpServer,
  type McpConfig,
  type ServerConfig,
  type StdioServer,
} from "./mcp-config.ts";
export { McpLimits } from "./mcp-limits.ts";
export type { McpServerState } from "./mcp-server.ts";
export {
  McpServers,
  type CallOptions,
  type McpServersOptions,
  type McpServerView,
  type McpTool,
} from "./mcp-servers.ts";
export { modelContent, type ModelContentOptions, type ModelPart } from "./model-content.ts";
export type { ToolOutput, ToolOutputPart } from "./tool-output.ts";
