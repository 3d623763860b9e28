// The page at /docs: the OpenAPI document as HTML. It has no scripts and loads nothing, so it works offline and under the strictest
// content security policy.
import { createHash } from "node:crypto";
import {
  modelPlaceholder,
  type OpenApiDocument,
  type OperationObject,
  type ResponseObject,
} from "./document.ts";
import { html, joined, type Html } from "./html.ts";
import { fields } from "./schema-fields.ts";
import type { JsonSchema } from "./schema-components.ts";
import { schemaName, words } from "./schema-words.ts";

/** Values for the page's examples, so that they can be pasted and run. */
export interface PagePlace {
  /** Such as `http://127.0.0.1:1337`. */
  address: string;
  /** The id of a served model; absent if there is none. */
  model?: string | undefined;
}

/** The policy contains its hash, so the page must contain it unchanged. */
const pageStyle = `
:root { color-scheme: light dark; --line: light-dark(#d5d9e0, #3a3f4b); --soft: light-dark(#f4f5f8, #1d2028); }
body { max-width: 64rem; margin: 0 auto; padding: 1rem 1.5rem 4rem; font: 16px/1.5 system-ui, sans-serif; }
h1 { margin-bottom: 0; }
h2 { margin: 3rem 0 0; border-top: 1px solid var(--line); padding-top: 1.5rem; }
h2, h3 { line-height: 1.25; overflow-wrap: anywhere; }
code, pre, b { font-family: ui-monospace, monospace; font-size: 0.9em; }
pre { padding: 0.75rem 1rem; border-radius: 6px; background: var(--soft); overflow-x: auto; }
.routes { padding: 0; list-style: none; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: 0.95em; }
th, td { padding: 0.3rem 0.75rem 0.3rem 0; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; }
a { color: light-dark(#1a56c4, #8ab4ff); }
:target > :is(h2, h3) { color: light-dark(#1a56c4, #8ab4ff); }
`;

/** The content security policy: it allows only the page's own style. */
export const pagePolicy = [
  "default-src 'none'",
  `style-src 'sha256-${createHash("sha256").update(pageStyle).digest("base64")}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** Must be exactly what the policy's hash was computed from. */
const style: Html = { html: `<style>${pageStyle}</style>` };

interface NamedOperation extends OperationObject {
  method: string;
  path: string;
  /** Whether it needs a key. */
  isClosed: boolean;
}

/** The whole page. */
export function docsPage(document: OpenApiDocument, place: PagePlace): string {
  const { info, components } = document;
  const operations = listOperations(document);
  const bodies = new Set(operations.flatMap((operation) => namesIn(bodySchema(operation))));
  const requested = reachable([...bodies], components.schemas);
  const shapes = Object.entries(components.schemas).filter(([name]) => !bodies.has(name));
  const page = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${info.title}: the HTTP API</title>
        ${style}
      </head>
      <body>
        <h1>${info.title} ${info.version}</h1>
        <p>${info.description}</p>
        <p>
          This server is <code>${place.address}</code>. <a href="openapi.json">openapi.json</a> describes the
          same API for programs.
        </p>
        ${document.security === undefined ? "" : keyNote}
        <ul class="routes">
          ${operations.map(entry)}
        </ul>
        ${operations.map((operation) => section(operation, { document, place }))}
        <h2 id="shapes">Types</h2>
        ${shapes.map(([name, schema]) => shape(name, schema, requested.has(name)))}
      </body>
    </html>`;
  return page.html;
}

const keyNote = html`<p>
  Requests need a key, as <code>Authorization: Bearer &lt;key&gt;</code>; the examples take it from
  <code>INGLE_API_KEY</code>.
</p>`;

function listOperations({ paths, security }: OpenApiDocument): NamedOperation[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      ...operation,
      method: method.toUpperCase(),
      path,
      isClosed: (operation.security ?? security ?? []).length > 0,
    })),
  );
}

function entry({ operationId, method, path, summary }: NamedOperation): Html {
  return html`<li>
    <a href="#${operationId}"><b>${method}</b> ${path}</a> ${summary}
  </li>`;
}

function section(
  operation: NamedOperation,
  { document, place }: { document: OpenApiDocument; place: PagePlace },
): Html {
  const { operationId, method, path, summary, description = "", responses } = operation;
  const body = bodySchema(operation);
  return html`<section id="${operationId}">
    <h2><b>${method}</b> ${path}</h2>
    <p>${summary}. ${description}</p>
    <pre><code>${curl(operation, place)}</code></pre>
    ${body === undefined ? "" : [html`<h3>Request</h3>`, fields(resolved(body, document), { isRequest: true })]}
    <h3>Responses</h3>
    <ul>
      ${Object.entries(responses).map(([status, response]) => responseItem(status, response))}
    </ul>
  </section> `;
}

function responseItem(status: string, { description, content }: ResponseObject): Html {
  const forms = Object.entries(content).map(([type, { schema }]) => {
    const name = words(schema, { isRequest: false });
    if (type === "application/json") return name;
    return html`${type === "text/event-stream" ? "events of " : ""}${name} as <code>${type}</code>`;
  });
  return html`<li><b>${status}</b> ${description} ${joined(forms, "; ")}</li> `;
}

function shape(name: string, schema: JsonSchema, isRequest: boolean): Html {
  return html`<section id="${name}">
    <h3>${name}</h3>
    <p>${schema.description ?? ""}</p>
    ${fields(schema, { isRequest })}
  </section> `;
}

/** A command to paste into a shell. */
function curl(operation: NamedOperation, { address, model = modelPlaceholder }: PagePlace): string {
  const { path, requestBody, isClosed } = operation;
  const example = requestBody?.content["application/json"]?.example;
  const id = model.replace(/[^\w.~/<>-]/gu, encodeURIComponent);
  const line = [`curl ${address}${path.replace("{id}", id)}`];
  if (isClosed) line.push('-H "Authorization: Bearer $INGLE_API_KEY"');
  if (typeof example === "object" && example !== null) {
    const json = JSON.stringify("model" in example ? { ...example, model } : example);
    line.push('-H "Content-Type: application/json"', `-d '${json.replaceAll("'", "'\\''")}'`);
  }
  return line.join(" \\\n  ");
}

function bodySchema({ requestBody }: OperationObject): JsonSchema | undefined {
  return requestBody?.content["application/json"]?.schema;
}

function resolved(schema: JsonSchema, { components }: OpenApiDocument): JsonSchema {
  return schema.$ref === undefined ? schema : (components.schemas[schemaName(schema.$ref)] ?? {});
}

/** The names that a schema refers to. */
function namesIn(schema: JsonSchema | undefined): string[] {
  const references = JSON.stringify(schema ?? {}).matchAll(/"\$ref":"([^"]+)"/g);
  return [...references].map(([, reference = ""]) => schemaName(reference));
}

/** The names, and everything that they refer to, transitively. */
function reachable(names: readonly string[], schemas: Readonly<Record<string, JsonSchema>>): Set<string> {
  const found = new Set(names);
  for (const name of found) for (const inner of namesIn(schemas[name])) found.add(inner);
  return found;
}
