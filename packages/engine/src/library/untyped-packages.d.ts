// Types of npm's packages, whose published types lack these parts.

/** The connection agent, for hub/http.ts. */
declare module "@npmcli/agent" {
  import type { Agent as HttpAgent } from "node:http";

  /** An HTTP agent for http and https addresses, directly or through a proxy. */
  export class Agent extends HttpAgent {
    constructor(options: {
      proxy?: string;
      noProxy?: string;
      keepAlive?: boolean;
      maxSockets?: number;
      timeouts?: { connection?: number };
    });
  }
}

/** The table of settings, for npm-settings.ts. */
declare module "@npmcli/config/lib/definitions/index.js" {
  import type Config from "@npmcli/config";

  const table: {
    definitions: Config.DefinitionsObject;
    defaults: { registry: string };
    shorthands: Config.ShortFlags;
    flatten: (data: Record<string, unknown>, flat: Record<string, unknown>) => void;
  };
  export default table;
}
