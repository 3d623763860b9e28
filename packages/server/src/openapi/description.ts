// The API's description in its two forms, made once for a server. Loaded by routes/api-description.ts when it is first
// asked for.
import { openApiDocument, type DocumentOptions } from "./document.ts";
import type { ListedRoute } from "./operation.ts";
import { docsPage, pagePolicy, type PagePlace } from "./page.ts";

export interface ApiDescription {
  /** The document as JSON. */
  readonly json: string;
  readonly pagePolicy: string;
  /** The page as HTML. */
  readonly page: (place: PagePlace) => string;
}

export function apiDescription(routes: readonly ListedRoute[], options: DocumentOptions): ApiDescription {
  const document = openApiDocument(routes, options);
  // Nearly everybody asks by the same address: the page is written once for them, and a flood costs little.
  let last = { place: "", page: "" };
  const page = (place: PagePlace): string => {
    const asked = JSON.stringify(place);
    if (last.place !== asked) last = { place: asked, page: docsPage(document, place) };
    return last.page;
  };
  return { json: JSON.stringify(document), pagePolicy, page };
}
