// What a server and a worker tell each other first: whether they are of one make, what the worker offers, or why not.
import { createHash } from "node:crypto";
import { z } from "zod";
import type { BuildInfo } from "../native.ts";

/** Of what is said through a tunnel; a change of it is a number more. */
export const tunnelVersion = 1;

const Name = z.string().max(200);

export const ServerHello = z.object({
  tunnel: z.int(),
  /** Both must compute the same, and understand each other's messages to the byte. */
  sources: Name,
  version: Name,
  /** For the worker's log. */
  host: Name,
});
export type ServerHello = z.output<typeof ServerHello>;

export const OfferedDevice = z.object({
  /** At the worker. */
  name: Name,
  description: Name,
  type: z.enum(["cpu", "gpu", "igpu", "accel"]),
  /** What the server may take of it. */
  bytes: z.int().min(0),
});
export type OfferedDevice = z.output<typeof OfferedDevice>;

export const WorkerHello = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("offer"), version: Name, devices: z.array(OfferedDevice).min(1).max(16) }),
  z.object({ kind: z.literal("refusal"), reason: z.string().max(500) }),
]);
export type WorkerHello = z.output<typeof WorkerHello>;

export function parseHello<T>(schema: z.ZodType<T>, payload: Buffer): T {
  return schema.parse(JSON.parse(payload.toString("utf8")));
}

/** Why a worker of this build cannot compute for that server; undefined when it can. */
export function mismatch(
  server: ServerHello,
  own: Pick<BuildInfo, "version" | "llamaCpp">,
): string | undefined {
  if (server.tunnel === tunnelVersion && server.sources === own.llamaCpp.sources) return undefined;
  return (
    `the worker is Ingle ${own.version} and the server Ingle ${server.version}, or they were built from different ` +
    "sources of llama.cpp: install the same version on both"
  );
}

/** Names what is offered: a worker that comes back with the same devices has the same name. */
export function offerName(address: string, devices: readonly OfferedDevice[]): string {
  const digest = createHash("sha256").update(JSON.stringify(devices)).digest("hex").slice(0, 8);
  return `${address}/${digest}`;
}
