// GET /openapi.json and GET /docs: what this server can be asked, for programs and for people. Like probes they need no
// key: they hold nothing that is not in our documentation. Who may use the model reads its id in the examples.
import type { FastifyInstance } from "fastify";
import type { KeyRing } from "../access/key-ring.ts";
import type { ModelRegistry } from "../models/registry.ts";
import type { ApiDescription } from "../openapi/description.ts";
import type { DocumentOptions } from "../openapi/document.ts";
import { z } from "zod";

export interface ApiDescriptionOptions extends Pick<DocumentOptions, "isRateLimited"> {
  registry: ModelRegistry;
  keys: Pick<KeyRing, "isNeeded">;
}

export async function apiDescriptionRoutes(
  app: FastifyInstance,
  { registry, keys, isRateLimited }: ApiDescriptionOptions,
): Promise<void> {
  let made: { hasKeys: boolean; description: ApiDescription } | undefined;
  /** Made, and its code loaded, when somebody first asks: starting a server does not wait for it. */
  const description = async (): Promise<ApiDescription> => {
    const { apiDescription } = await import("../openapi/description.ts");
    const hasKeys = keys.isNeeded; // from a first key on, where there was none
    if (made?.hasKeys !== hasKeys)
      made = { hasKeys, description: apiDescription(app.routeList, { hasKeys, isRateLimited }) };
    return made.description;
  };

  const document = {
    summary: "This API in OpenAPI 3.1",
    answers: { 200: z.record(z.string(), z.unknown()) },
  };
  app.get("/openapi.json", { config: { right: "none", operation: document } }, async (_request, reply) => {
    const { json } = await description();
    return reply.header("content-type", "application/json; charset=utf-8").send(json);
  });

  const reading = { summary: "This API as a page to read", answers: { 200: "text/html" } } as const;
  app.get("/docs", { config: { right: "none", operation: reading } }, async (request, reply) => {
    const { pagePolicy, page } = await description();
    const address = `${request.protocol}://${request.host}`;
    return reply
      .header("content-type", "text/html; charset=utf-8")
      .header("content-security-policy", pagePolicy)
      .header("x-content-type-options", "nosniff")
      .header("referrer-policy", "no-referrer")
      .send(page({ address, model: request.right === "none" ? undefined : registry.list()[0]?.id }));
  });
}
