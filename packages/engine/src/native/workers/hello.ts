// The first messages between a server and a worker: their versions, and the worker's offer or refusal.
import { createHash } from "node:crypto";
import { z } from "zod";
import type { BuildInfo } from "../addon.ts";

/** The version of the tunnel's protocol. Every change of the protocol increments it. */
export const tunnelVersion = 1;

const Name = z.string().max(200);

export const ServerHello = z.object({
  tunnel: z.int(),
  /** The hash of llama.cpp's sources. It must be equal on both sides: their messages have no other versioning. */
  sources: Name,
  version: Name,
  /** The server's host name, for the worker's log. */
  host: Name,
});
export type ServerHello = z.output<typeof ServerHello>;

export const OfferedDevice = z.object({
  /** The device's name on the worker. */
  name: Name,
  description: Name,
  type: z.enum(["cpu", "gpu", "igpu", "accel"]),
  /** The memory that the server may use. */
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

/** Why a worker of this build cannot compute for that server; undefined if it can. */
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

/** A name for a worker's offer: a worker that returns with the same devices gets the same name. */
export function offerName(address: string, devices: readonly OfferedDevice[]): string {
  const digest = createHash("sha256").update(JSON.stringify(devices)).digest("hex").slice(0, 8);
  return `${address}/${digest}`;
}
