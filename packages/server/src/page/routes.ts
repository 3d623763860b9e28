// The web page under `/` and its files. They hold no data, so they need no key: each API request of the page
// decides what it may do.
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { clientNetwork } from "../access/ip-address.ts";
import { keyRefused, type KeyCheck } from "../access/keys.ts";
import { PageTickets } from "../access/page-tickets.ts";
import { beginSession, type Sessions } from "../access/sessions.ts";
import { hashKey } from "../api-key.ts";
import { html } from "../openapi/html.ts";
import type { Page, PageEncoding, PageFile } from "./page-files.ts";

/** The page may only run, show and contact what comes from this server, and no other page may frame it. */
const pagePolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "font-src 'self'",
  "connect-src 'self'",
  "worker-src 'self'",
  "manifest-src 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "form-action 'none'",
].join("; ");

/** The one host name of the app: under another name of this machine, a browser has other cookies and other stored data. */
const appHost = "127.0.0.1";
/** The query that keeps a page under another name, so that it can move what the browser has stored there. */
const stayQuery = "stay";

/** One year, the longest time that caches keep anything. */
const hashedCaching = "public, max-age=31536000, immutable";
/** Caches keep it, but revalidate it before each use. */
const otherCaching = "no-cache";

interface PageRouteOptions {
  page: Page;
  sessions: Sessions;
  keyCheck: KeyCheck;
  /** The app's token, which the address may hold in `?token=`. */
  token: string | undefined;
}

export async function pageRoutes(app: FastifyInstance, options: PageRouteOptions): Promise<void> {
  const { page, sessions, keyCheck, token } = options;
  const config = { right: "none", isOfPage: true } as const;

  if (token !== undefined) {
    const tickets = new PageTickets(token);
    const key = { digest: hashKey(token) };
    app.addHook("preHandler", async (request, reply) => {
      const place = canonicalPlace(request);
      // Not cached by browsers: the page may stay under the other name once. The fragment is kept by the browser.
      if (place !== undefined) return reply.header("cache-control", "no-store").redirect(place, 307);
      const given = navigationToken(request);
      if (given === undefined) return;
      // Rate limited like any key: another page could make the browser guess tokens.
      const found = tickets.redeem(given) ? key : await keyCheck.find([given], clientNetwork(request.ip));
      if (found !== undefined && !("digest" in found)) throw keyRefused(found);
      if (found !== undefined) beginSession(request, reply, { sessions, key: found });
      // The redirect keeps the token out of the history; after a wrong token the page explains how to open it.
      return reply.header("cache-control", "no-store").redirect(stays(request) ? `/?${stayQuery}` : "/", 303);
    });
  }

  if ("problem" in page) {
    app.get("/", { config }, async (_request, reply) => sendProblem(reply, page.problem));
    return;
  }
  for (const file of page.files.values())
    app.get(file.path, { config }, async (request, reply) => await sendFile(file, request, reply));
}

/** The page's address under the app's one host name, with path and query; undefined if the request has used it. */
function canonicalPlace(request: FastifyRequest): string | undefined {
  const { routeOptions, hostname, port, protocol, url } = request;
  if (routeOptions.url !== "/" || hostname === appHost || stays(request)) return undefined;
  return `${protocol}://${appHost}${port === null ? "" : `:${port}`}${url}`;
}

function stays(request: FastifyRequest): boolean {
  return queryValue(request, stayQuery) !== undefined;
}

/** The token of a browser's navigation that no other page started. */
function navigationToken(request: FastifyRequest): string | undefined {
  const { method, isForeignPage, routeOptions } = request;
  if (method !== "GET" || isForeignPage || routeOptions.url !== "/") return undefined;
  const token = queryValue(request, "token");
  return typeof token === "string" && token !== "" ? token : undefined;
}

function queryValue({ query }: FastifyRequest, name: string): unknown {
  return typeof query === "object" && query !== null ? Reflect.get(query, name) : undefined;
}

async function sendFile(file: PageFile, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const { bytes, encoding, etag } = await file.read(accepted(request.headers["accept-encoding"]));
  protect(reply)
    .header("cache-control", file.isHashed ? hashedCaching : otherCaching)
    .header("etag", etag);
  addVary(reply);
  if (isKnown(request.headers["if-none-match"], etag)) return reply.code(304).send();
  if (encoding !== "identity") reply.header("content-encoding", encoding);
  return reply.header("content-type", file.type).send(bytes);
}

function sendProblem(reply: FastifyReply, problem: string): FastifyReply {
  const { html: text } = html`<!doctype html>
    <html lang="en">
      <meta charset="utf-8" />
      <title>Ingle</title>
      <p>${problem}</p>
    </html>`;
  return protect(reply)
    .code(404)
    .header("cache-control", "no-store")
    .header("content-type", "text/html; charset=utf-8")
    .send(text);
}

function protect(reply: FastifyReply): FastifyReply {
  return reply
    .header("content-security-policy", pagePolicy)
    .header("x-content-type-options", "nosniff")
    .header("referrer-policy", "no-referrer")
    .header("cross-origin-opener-policy", "same-origin")
    .header("cross-origin-resource-policy", "same-origin");
}

/** Adds to the `Vary` header that other plugins may have set. */
function addVary(reply: FastifyReply): void {
  const vary = reply.getHeader("vary");
  reply.header("vary", [vary, "Accept-Encoding"].flat().filter(Boolean).join(", "));
}

/** The encodings that the client accepts; `q=0` excludes one. */
function accepted(header: string | undefined): ReadonlySet<PageEncoding> {
  const names = (header ?? "").split(",").map((part) => part.trim().toLowerCase());
  const takes = (encoding: PageEncoding): boolean =>
    names.some((name) => new RegExp(`^${encoding}( *; *q=(1|0?\\.\\d*[1-9]\\d*|1\\.0*))?$`).test(name));
  return new Set((["br", "gzip"] as const).filter(takes));
}

function isKnown(header: string | undefined, etag: string): boolean {
  const etags = new Set((header ?? "").split(",").map((each) => each.trim().replace(/^W\//, "")));
  return etags.has(etag) || etags.has("*");
}
