// `client.machine`: what the server runs on.
import type { Machine } from "@ingle/protocol";

import { hasList } from "./answer.ts";
import { callsBelow } from "./api-calls.ts";
import type { CallOptions, Transport } from "./transport.ts";

/** The machine of a server. */
export interface MachineState {
  /** Its processor, memory, disk and devices, as they are now. */
  get(options?: CallOptions): Promise<Machine>;
}

const isMachine = (value: unknown): value is Machine => hasList(value, "devices");

/** Makes `client.machine`. */
export function createMachine(transport: Transport): MachineState {
  const { ask } = callsBelow(transport, "/api/v1/machine");
  return { get: (options = {}) => ask("", options, isMachine) };
}
