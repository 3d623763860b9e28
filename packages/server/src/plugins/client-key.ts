// Determines which client a request counts for: the engine serves each client's requests in order of arrival, and shares its work
// evenly among clients.
import { createHash } from "node:crypto";
import type { Socket } from "node:net";
import type { FastifyInstance, FastifyRequest } from "fastify";
import fp from "fastify-plugin";

declare module "fastify" {
  interface FastifyRequest {
    /**
     * The client that this request counts for: the `x-llm-d-inference-fairness-id` of a trusted gateway, else the API key,
     * else the body's `user`, else that header or `x-session-id` from anyone, else the connection. Each kind has a prefix, so
     * that no `user` can pose as a key. The length is bounded, and keys are only included as digests.
     */
    clientKey(user: string | undefined): string;
  }
}

/** Set by llm-d's gateway: the share that a request counts against. */
const fairnessHeader = "x-llm-d-inference-fairness-id";
/** Set by routers that send many clients' requests over one connection. */
const sessionHeader = "x-session-id";

export interface ClientKeyOptions {
  /** A trusted gateway may name many clients behind one key. A client itself may not: it would get many shares. */
  trustsProxy: (address: string | undefined) => boolean;
}

export const clientKey = fp(
  async (app: FastifyInstance, { trustsProxy }: ClientKeyOptions) => {
    const numbers = new WeakMap<Socket, number>();
    let connections = 0;

    const numberOf = (socket: Socket): number => {
      const number = numbers.get(socket) ?? (connections += 1);
      numbers.set(socket, number);
      return number;
    };

    app.decorateRequest("clientKey", function (this: FastifyRequest, user: string | undefined): string {
      const fairnessId = headerOf(this, fairnessHeader);
      if (fairnessId !== undefined && trustsProxy(this.socket.remoteAddress))
        return `fairness:${digest(`${this.keyDigest ?? ""} ${fairnessId}`)}`;
      if (this.keyDigest !== null) return `key:${this.keyDigest}`;
      if (user !== undefined && user !== "") return `user:${digest(user)}`;
      const session = headerOf(this, sessionHeader);
      if (fairnessId !== undefined) return `fairness:${digest(fairnessId)}`;
      if (session !== undefined) return `session:${digest(session)}`;
      return `connection:${numberOf(this.socket)}`;
    });
  },
  { name: "client-key", dependencies: ["auth"] },
);

function headerOf({ headers }: FastifyRequest, name: string): string | undefined {
  const value = headers[name];
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** The engine truncates long names: users with the same prefix would become one. */
function digest(user: string): string {
  return createHash("sha256").update(user).digest("hex");
}
