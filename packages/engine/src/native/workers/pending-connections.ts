// The connections of peers that have not proved yet that they have the key. Whoever opens many of them and says nothing must not keep
// out a server that has it: where there are too many, the address with the most loses its oldest one.
import type { Socket } from "node:net";

/** The maximum number of open connections without a proved key. A server needs one, for two round trips. */
export const pendingMax = 32;

export class PendingConnections {
  /** By address, oldest first. */
  readonly #byAddress = new Map<string, Set<Socket>>();
  #count = 0;

  /** Adds a connection until it is closed or settled, and destroys another one if there are too many. */
  add(socket: Socket): void {
    const { remoteAddress: address = "" } = socket;
    const sockets = this.#byAddress.get(address) ?? new Set();
    this.#byAddress.set(address, sockets.add(socket));
    this.#count += 1;
    socket.once("close", () => this.#remove(address, socket));
    if (this.#count > pendingMax) this.#oldestOfMost()?.destroy();
  }

  /** The peer of this connection, or of the one inside it, has proved that it has the key: it is not destroyed for others. */
  settle({ remoteAddress = "", remotePort }: Pick<Socket, "remoteAddress" | "remotePort">): void {
    for (const socket of this.#byAddress.get(remoteAddress) ?? [])
      if (socket.remotePort === remotePort) this.#remove(remoteAddress, socket);
  }

  #remove(address: string, socket: Socket): void {
    const sockets = this.#byAddress.get(address);
    if (sockets?.delete(socket) !== true) return;
    this.#count -= 1;
    if (sockets.size === 0) this.#byAddress.delete(address);
  }

  #oldestOfMost(): Socket | undefined {
    const most = [...this.#byAddress.values()].reduce((one, other) => (other.size > one.size ? other : one));
    return most.values().next().value;
  }
}
