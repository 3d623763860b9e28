// GET /openapi.json and GET /docs: what this server can be asked, for programs and for people. Like probes they need no
// key: they hold nothing that is not in our documentation, but for the id of the model that the examples name.
import type { FastifyInstance } from "fastify";
import type { ModelRegistry } from "../models/registry.ts";
import type { ApiDescription } from "../openapi/description.ts";
import type { DocumentOptions } from "../openapi/document.ts";
import { z } from "zod";

export interface ApiDescriptionOptions extends DocumentOptions {
  registry: ModelRegistry;
}

export async function apiDescriptionRoutes(
  app: FastifyInstance,
  { registry, ...options }: ApiDescriptionOptions,
): Promise<void> {
  let made: ApiDescription | undefined;
  /** Made, and its code loaded, when somebody first asks: starting a server does not wait for it. */
  const description = async (): Promise<ApiDescription> => {
    const { apiDescription } = await import("../openapi/description.ts");
    made ??= apiDescription(app.routeList, options);
    return made;
  };

  const document = {
    summary: "This API in OpenAPI 3.1",
    answers: { 200: z.record(z.string(), z.unknown()) },
  };
  app.get("/openapi.json", { config: { isPublic: true, operation: document } }, async (_request, reply) => {
    const { json } = await description();
    return reply.header("content-type", "application/json; charset=utf-8").send(json);
  });

  const reading = { summary: "This API as a page to read", answers: { 200: "text/html" } } as const;
  app.get("/docs", { config: { isPublic: true, operation: reading } }, async (request, reply) => {
    const { pagePolicy, page } = await description();
    const address = `${request.protocol}://${request.host}`;
    return reply
      .header("content-type", "text/html; charset=utf-8")
      .header("content-security-policy", pagePolicy)
      .header("x-content-type-options", "nosniff")
      .header("referrer-policy", "no-referrer")
      .send(page({ address, model: registry.list()[0]?.id }));
  });
}
