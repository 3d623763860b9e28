// Who asks, for fairness: the engine serves one client's requests in order of arrival and shares its work evenly among
// clients. Used by the routes that generate.
import { createHash } from "node:crypto";
import type { Socket } from "node:net";
import type { FastifyInstance, FastifyRequest } from "fastify";
import fp from "fastify-plugin";

declare module "fastify" {
  interface FastifyRequest {
    /**
     * The client that this request counts for: whom a trusted gateway names in `x-llm-d-inference-fairness-id`, else the API
     * key that let it in, else the `user` of its body, else who is named in that header or in `x-session-id`, else its
     * connection. Each kind has its own prefix, so that no `user` poses as a key. The length is bounded, and no key, user or
     * header can be read from it.
     */
    clientKey(user: string | undefined): string;
  }
}

/** Says for llm-d's gateway whose share a request is taken from. */
const fairnessHeader = "x-llm-d-inference-fairness-id";
/** Says for routers which requests belong together: many clients come through one connection of theirs. */
const sessionHeader = "x-session-id";

export interface ClientKeyOptions {
  /** A gateway may speak for many clients that come with one key; a client may not, to have the shares of many. */
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

/** The engine cuts long names, and users that begin alike would become one. */
function digest(user: string): string {
  return createHash("sha256").update(user).digest("hex");
}
