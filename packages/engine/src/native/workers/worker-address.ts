// The address of a worker: `host:port`, `[IPv6 address]:port`, or only a host.
import { isIPv6 } from "node:net";
import { z } from "zod";

/** The default port, the same as of ggml's rpc-server. */
export const workerPortDefault = 50_052;
/** The maximum number of workers of one model: ggml's own limit. */
export const workersMax = 16;

const pattern = /^(?:\[([0-9a-f:.]+)\]|([a-z0-9_.-]{1,253}))(?::(\d{1,5}))?$/i;

export interface WorkerAddress {
  host: string;
  port: number;
}

export const WorkerAddress = z.string().transform((text, context): WorkerAddress => {
  const [, bracketed, name, digits] = pattern.exec(text.trim()) ?? [];
  const host = bracketed ?? name;
  const port = digits === undefined ? workerPortDefault : Number(digits);
  if (host !== undefined && (bracketed === undefined || isIPv6(bracketed)) && port >= 1 && port <= 65_535)
    return { host, port };
  context.addIssue({ code: "custom", message: "must be host:port, such as 192.168.1.20:50052" });
  return z.NEVER;
});

export function addressText({ host, port }: WorkerAddress): string {
  return isIPv6(host) ? `[${host}]:${port}` : `${host}:${port}`;
}
