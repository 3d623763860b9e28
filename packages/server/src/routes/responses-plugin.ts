// Registers /v1/responses and /v1/conversations with their store, and owns the store from its opening to its end.
import type { FastifyInstance } from "fastify";
import type { RecordStore } from "../stored/record-store.ts";
import { generationRoute } from "../protocols/generation-route.ts";
import type { InferenceOptions } from "../protocols/inference.ts";
import { inputTokenRoutes } from "./input-tokens.ts";
import { conversationRoutes } from "./conversations.ts";
import { responses } from "../protocols/responses/protocol.ts";
import { responseRoutes } from "./responses.ts";
import { StoredResponses } from "../protocols/responses/stored-responses.ts";

/** How often expired records are deleted, if no request does it earlier. */
const expireEveryMs = 60_000;

export interface ResponsesOptions extends InferenceOptions {
  /** Disposed of when the server closes. Undefined: nothing is stored. */
  store: RecordStore | undefined;
  /** What comes before `/responses`, where responses are created. */
  prefixes: readonly ("/v1" | "")[];
}

export async function responsesPlugin(
  app: FastifyInstance,
  { store, prefixes, ...options }: ResponsesOptions,
): Promise<void> {
  const stored = new StoredResponses(store);
  const expiry = setInterval(() => store?.expire(), expireEveryMs).unref();
  app.addHook("onClose", async () => {
    clearInterval(expiry);
    await stored.settled(); // responses in the background were cancelled when closing began
    store?.[Symbol.dispose]();
  });
  for (const prefix of prefixes)
    await app.register(generationRoute({ ...responses(stored), path: `${prefix}/responses` }), options);
  await app.register(inputTokenRoutes, { ...options, stored, prefixes });
  await app.register(responseRoutes, { ...options, stored });
  await app.register(conversationRoutes, { ...options, stored });
}
