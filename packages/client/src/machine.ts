// `client.machine`: the machine that the server runs on.
import type { Machine } from "@ingle/protocol";

import { hasList } from "./answer.ts";
import { callsBelow } from "./api-calls.ts";
import type { CallOptions, Transport } from "./transport.ts";

export interface MachineState {
  /** Its processor, memory, disk and devices, with their current use. */
  get(options?: CallOptions): Promise<Machine>;
}

const isMachine = (value: unknown): value is Machine => hasList(value, "devices");

export function createMachine(transport: Transport): MachineState {
  const { get } = callsBelow(transport, "/api/v1/machine");
  return { get: (options = {}) => get("", options, isMachine) };
}
