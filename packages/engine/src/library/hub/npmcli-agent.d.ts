// Types for the part of npm's connection agent that http.ts uses; the package has none.
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
