// Work that waits for all other work: the requests of batches, which the server sends to itself with the rights of the batch's key, and
// requests whose clients ask for it with a header.
import { randomBytes } from "node:crypto";
import type { KeyTerms } from "@ingle/protocol";
import type { FastifyInstance, FastifyRequest } from "fastify";
import fp from "fastify-plugin";
import { toTerms } from "../access/key-file.ts";
import type { KeyCheck, KeyRing, KnownKey } from "../access/keys.ts";
import { onlyModels, type MayUse, type Right } from "../access/rights.ts";
import { WireError } from "../wire-error.ts";

type Priority = NonNullable<KeyTerms["priority"]> | "background";

/** Whose request it is that the server sends to itself. */
export interface InnerSender {
  /** The digest of a key; null without one. */
  readonly digest: string | null;
  /** The name of that key, by which it is found after a restart; null: it has none. */
  readonly name: string | null;
  /** When that key was used, in Unix seconds: a later key of the same name is another one. */
  readonly at: number;
}

interface Ticket {
  readonly sender: InnerSender;
  readonly signal: AbortSignal;
}

declare module "fastify" {
  interface FastifyRequest {
    /** Whether the server sends it to itself. Such a request is not counted as one of a client. */
    readonly isInner: boolean;
    /** Whether it waits for all others, and leaves them their places in the queue. */
    readonly isBackground: boolean;
    /** The priority of its generations; undefined: normal. */
    readonly priority: Priority | undefined;
  }
  interface FastifyInstance {
    /**
     * Headers for one `inject()`, which then has the rights of this sender and is in the background. It is cancelled when the signal is
     * aborted.
     */
    innerHeaders(sender: InnerSender, signal: AbortSignal): Record<string, string>;
    /** The key of such a sender as it is now; null without one. Throws `unauthorized` if it may not send any more. */
    innerKey(sender: InnerSender): KnownKey | null;
  }
}

/** Names a ticket, which is valid once. Nobody can guess it, so the header means nothing from outside. */
const ticketHeader = "x-ingle-inner";
const ticketBytes = 32;
/** From a client: `background` makes its request wait for all others. A client cannot raise its priority. */
const priorityHeader = "x-ingle-priority";

interface BackgroundOptions {
  keys: KeyRing;
  keyCheck: KeyCheck;
}

/** Registered after auth, whose decisions it replaces for the server's own requests. */
export const background = fp(
  async (app: FastifyInstance, options: BackgroundOptions) => {
    const tickets = new Map<string, Ticket>();
    app.decorate("innerHeaders", (sender: InnerSender, signal: AbortSignal) => {
      const name = randomBytes(ticketBytes).toString("base64url");
      tickets.set(name, { sender, signal });
      return { [ticketHeader]: name };
    });
    app.decorate("innerKey", (sender: InnerSender) => findKey(sender, options));
    app.decorateRequest("isInner", false);
    app.decorateRequest("isBackground", {
      getter(this: FastifyRequest) {
        return this.isInner || this.headers[priorityHeader] === "background";
      },
    });
    app.decorateRequest("priority", {
      getter(this: FastifyRequest) {
        return this.isBackground ? "background" : this.key?.terms.priority;
      },
    });

    app.addHook("onRequest", async (request) => {
      const name = request.headers[ticketHeader];
      const ticket = typeof name === "string" ? tickets.get(name) : undefined;
      if (typeof name !== "string" || ticket === undefined) return;
      tickets.delete(name);
      followSignal(request, ticket.signal);
      const key = findKey(ticket.sender, options);
      request.setDecorator("isInner", true);
      request.setDecorator("isOfThisMachine", false);
      request.setDecorator<Right>("right", "inference");
      request.setDecorator<KnownKey | null>("key", key);
      const models = key?.terms.models;
      if (models !== undefined) request.setDecorator<MayUse>("mayUse", onlyModels(models));
    });
  },
  { name: "background", dependencies: ["abort", "auth"] },
);

function followSignal(request: FastifyRequest, signal: AbortSignal): void {
  const stop = (): void => {
    request.cancel(signal.reason instanceof Error ? signal.reason : new Error("It was stopped."));
  };
  if (signal.aborted) stop();
  signal.addEventListener("abort", stop, { once: true });
  request.atEnd(() => signal.removeEventListener("abort", stop));
}

/** The key as it is now. Throws `unauthorized` if it is not valid any more, or if there was none and one is needed now. */
function findKey({ digest, name, at }: InnerSender, { keys, keyCheck }: BackgroundOptions): KnownKey | null {
  if (digest === null) {
    if (!keys.isNeeded) return null;
    throw new WireError("unauthorized", "This server requires an API key, and this batch was made without.");
  }
  const listed = keyCheck.known([digest]);
  if (listed !== undefined) return listed;
  const entry = keys.entries.find((each) => each.name === name && each.created_at <= at);
  const isExpired = entry?.expires_at !== undefined && Date.parse(entry.expires_at) <= Date.now();
  if (entry === undefined || isExpired)
    throw new WireError("unauthorized", "The API key that made this batch has expired or was revoked.");
  return { digest, scope: entry.scope, name: entry.name, terms: toTerms(entry) };
}
