// Who may give orders: not everybody who may ask for answers. Used by the routes that load, free, fetch and remove models.
import { isLoopback, type ServerConfig } from "../config.ts";
import { WireError } from "../wire-error.ts";

/**
 * A hook for routes that change what is in memory or on the disk: where other machines can reach the server and nobody needs
 * a key, nobody may.
 */
export function refuseStrangers({ host, keyDigests }: ServerConfig): () => Promise<void> {
  const isOpen = !isLoopback(host) && keyDigests.length === 0;
  return async () => {
    if (!isOpen) return;
    throw new WireError(
      "forbidden",
      "This server is open to other machines without a key, and takes no orders that way. Start it with --api-key.",
    );
  };
}
