// Decides whether a tool may be called: by a rule in the file, by an earlier answer of the user, or by asking the user.
import type { ServerConfig } from "./mcp-config.ts";

/** A call that the model wants to make. */
export interface CallRequest {
  server: string;
  /** The tool's name on the server. */
  tool: string;
  arguments: Readonly<Record<string, unknown>>;
}

/** `always` is for this tool, until the servers are disposed. */
export type Approval = "once" | "always" | "no";

/** Asks the user. Rejects if the signal is aborted. */
export type AskUser = (call: CallRequest, options: { signal?: AbortSignal | undefined }) => Promise<Approval>;

/** The user, or nobody who could be asked, has not allowed the call. Its message is for the model. */
export class CallRefusedError extends Error {
  override readonly name = "CallRefusedError";

  constructor() {
    super("The user did not allow this call.");
  }
}

export class Approvals {
  readonly #remembered = new Set<string>();

  /** Whether a call of this tool runs without being asked for. */
  isAllowed(server: ServerConfig, tool: string): boolean {
    return server.allows(tool) || this.#remembered.has(approvalKey(server.name, tool));
  }

  /** Throws CallRefusedError. */
  async check(
    server: ServerConfig,
    call: CallRequest,
    { ask, signal }: { ask: AskUser; signal?: AbortSignal | undefined },
  ): Promise<void> {
    if (this.isAllowed(server, call.tool)) return;
    const approval = await ask(call, { signal });
    if (approval === "no") throw new CallRefusedError();
    if (approval === "always") this.#remembered.add(approvalKey(call.server, call.tool));
  }
}

function approvalKey(server: string, tool: string): string {
  return JSON.stringify([server, tool]);
}
