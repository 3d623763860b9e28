// GET /openapi.json and GET /docs: the description of the API, for programs and for people. Neither needs a key, because both
// hold only what the public documentation does. Clients that may use models see a real model id in the examples.
import type { FastifyInstance } from "fastify";
import type { KeyRing } from "../../access/keys.ts";
import type { ModelRegistry } from "../../models/registry.ts";
import type { DocumentOptions } from "../../openapi/document.ts";
import type { ListedRoute } from "../../openapi/operation.ts";
import type { PagePlace } from "../../openapi/page.ts";
import { z } from "zod";
import { addRoute, type Route } from "../../http/add-route.ts";

const openApi = {
  path: "GET /openapi.json",
  right: "none",
  summary: "Describe this API as an OpenAPI 3.1 document",
  responses: { 200: z.record(z.string(), z.unknown()) },
} satisfies Route;
const docs = {
  path: "GET /docs",
  right: "none",
  summary: "Describe this API as a page for people",
  responses: { 200: "text/html" },
} satisfies Route;

interface ApiDescriptionOptions extends Pick<DocumentOptions, "isRateLimited"> {
  registry: ModelRegistry;
  keys: Pick<KeyRing, "isNeeded">;
}

export function addApiDescription(
  app: FastifyInstance,
  { registry, keys, isRateLimited }: ApiDescriptionOptions,
): void {
  let cached: { hasKeys: boolean; description: ApiDescription } | undefined;
  /** Built on the first request, together with loading its code, so that starting a server does not wait for it. */
  const description = async (): Promise<ApiDescription> => {
    const hasKeys = keys.isNeeded; // a first key may be created while the server runs
    if (cached?.hasKeys !== hasKeys)
      cached = { hasKeys, description: await describe(app.routeList, { hasKeys, isRateLimited }) };
    return cached.description;
  };

  addRoute(app, openApi, async (_request, reply) => {
    const { json } = await description();
    return reply.header("content-type", "application/json; charset=utf-8").send(json);
  });
  addRoute(app, docs, async (request, reply) => {
    const { pagePolicy, page } = await description();
    const address = `${request.protocol}://${request.host}`;
    return reply
      .header("content-type", "text/html; charset=utf-8")
      .header("content-security-policy", pagePolicy)
      .header("x-content-type-options", "nosniff")
      .header("referrer-policy", "no-referrer")
      .send(
        page({ address, model: request.right === "none" ? undefined : registry.list(request.mayUse)[0]?.id }),
      );
  });
}

interface ApiDescription {
  /** The document as JSON. */
  readonly json: string;
  readonly pagePolicy: string;
  /** The page as HTML. */
  readonly page: (place: PagePlace) => string;
}

async function describe(routes: readonly ListedRoute[], options: DocumentOptions): Promise<ApiDescription> {
  const { openApiDocument } = await import("../../openapi/document.ts");
  const { docsPage, pagePolicy } = await import("../../openapi/page.ts");
  const document = openApiDocument(routes, options);
  // Nearly all requests use one address. Its page is cached, so that a flood of requests costs little.
  let last = { place: "", page: "" };
  const page = (place: PagePlace): string => {
    const key = JSON.stringify(place);
    if (last.place !== key) last = { place: key, page: docsPage(document, place) };
    return last.page;
  };
  return { json: JSON.stringify(document), pagePolicy, page };
}
