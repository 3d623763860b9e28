// Where the user's mcp.json is, for `ingle chat` and the app.
import path from "node:path";
import { expandTilde } from "@ingle/engine/home";

/** The value that turns tools off. */
export const noMcpFile = "none";

export interface McpFile {
  path: string;
  /** Whether a flag or the environment names it. A file that nobody has named may be missing. */
  isNamed: boolean;
}

/** `named` is the value of a flag; without one, `INGLE_MCP` counts. Undefined if tools are turned off. */
export function mcpFile(
  named: string | undefined,
  { env, configDir }: { env: NodeJS.ProcessEnv; configDir: string },
): McpFile | undefined {
  const given = named ?? env["INGLE_MCP"] ?? "";
  if (given === noMcpFile) return undefined;
  return given === ""
    ? { path: path.join(configDir, "mcp.json"), isNamed: false }
    : { path: expandTilde(given), isNamed: true };
}
