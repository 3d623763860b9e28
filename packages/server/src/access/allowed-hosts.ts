// The host names that requests may use: the values of --allow-host, and the check of a Host header against them.
import { isIP } from "node:net";
import { z } from "zod";

const hostName = /^(?=.{1,253}$)[a-z0-9_]([a-z0-9_.-]*[a-z0-9_])?$/i;

/** Whether a text is an address, or a host name without a port. */
export function isHostName(name: string): boolean {
  return isIP(name) !== 0 || hostName.test(name);
}

/** A host name or address without a port; IPv6 addresses without brackets. */
export const HostName = z
  .string()
  .refine(isHostName, "must be a host name or address without a port")
  .transform((name) => name.toLowerCase());

/** Allows every name: for a server that only a proxy can reach, under names that are unknown before the deployment. */
export const everyHost = "*";

/** A name, every name below one (`*.example.com`), or every name. */
export const AllowedHost = z
  .string()
  .refine(
    (name) =>
      name === everyHost || isHostName(name) || (name.startsWith("*.") && hostName.test(name.slice(2))),
    'must be a host name or address without a port, "*.example.com" for every name below one, or "*" for every name',
  )
  .transform((name) => name.toLowerCase());

/** Whether a name, in lower case and without a port, is among the allowed ones. */
export function allowedBy(allowed: readonly string[]): (name: string) => boolean {
  const names = new Set(allowed);
  const endings = allowed.filter((name) => name.startsWith("*.")).map((name) => name.slice(1));
  return (name) => names.has(everyHost) || names.has(name) || endings.some((ending) => name.endsWith(ending));
}
