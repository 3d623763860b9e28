// Who asks, for fairness: the engine serves one client's requests in order of arrival and shares its work evenly among
// clients. Used by the routes that generate.
import { createHash } from "node:crypto";
import type { Socket } from "node:net";
import type { FastifyInstance, FastifyRequest } from "fastify";
import fp from "fastify-plugin";

declare module "fastify" {
  interface FastifyRequest {
    /**
     * The client that this request counts for: the API key that let it in, else the `user` of its body, else its
     * connection. Each kind has its own prefix, so that no `user` poses as a key. The length is bounded and neither
     * key nor user can be read from it.
     */
    clientKey(user: string | undefined): string;
  }
}

export const clientKey = fp(
  async (app: FastifyInstance) => {
    const numbers = new WeakMap<Socket, number>();
    let connections = 0;

    const numberOf = (socket: Socket): number => {
      const number = numbers.get(socket) ?? (connections += 1);
      numbers.set(socket, number);
      return number;
    };

    app.decorateRequest("clientKey", function (this: FastifyRequest, user: string | undefined): string {
      if (this.keyDigest !== null) return `key:${this.keyDigest}`;
      if (user !== undefined && user !== "") return `user:${digest(user)}`;
      return `connection:${numberOf(this.socket)}`;
    });
  },
  { name: "client-key", dependencies: ["auth"] },
);

/** The engine cuts long names, and users that begin alike would become one. */
function digest(user: string): string {
  return createHash("sha256").update(user).digest("hex");
}
