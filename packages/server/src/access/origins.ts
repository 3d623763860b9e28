// Which web pages and apps may call the server: the forms of an origin that --allow-origin takes, those that need no
// naming, and how the rest is refused. Used by config.ts and plugins/hosts.ts.
import { z } from "zod";

/**
 * Schemes of apps and extensions that are installed on this machine: no web page can send an origin of theirs. They use
 * models like any program; what their pages show may come from elsewhere, so they manage none.
 */
const appSchemes = new Set([
  "app",
  "capacitor",
  "chrome-extension",
  "ionic",
  "moz-extension",
  "safari-web-extension",
  "tauri",
  "vscode-file",
  "vscode-webview",
]);
/** Apps say this of pages that they bring as files; those that a browser opens say `null`. */
const appFiles = "file://";
/** Hosts of apps that use a scheme of the web: browsers lead these names to this machine and nowhere else. */
const appHosts = new Set(["tauri.localhost"]);

/** Longest origin that an error repeats: longer ones name nothing that anybody has installed. */
const originShownMax = 200;

/** `app://obsidian.md`, `file://`; `chrome-extension://*` stands for every host of a scheme. */
const appOrigin = /^([a-z][a-z0-9+.-]*):\/\/(?:\*|[A-Za-z0-9._-]*(?::\d{1,5})?)$/;
const webSchemes = new Set(["http", "https"]);

/** `https://chat.example` or `http://chat.example:3000`, exactly as browsers send it. */
function isWebOrigin(origin: string): boolean {
  if (!URL.canParse(origin) || origin.includes("*")) return false;
  const url = new URL(origin);
  return webSchemes.has(url.protocol.slice(0, -1)) && url.origin === origin;
}

/** The scheme of an app's origin; undefined for those of web pages, of which no wildcard can be meant. */
function appSchemeOf(origin: string): string | undefined {
  const scheme = appOrigin.exec(origin)?.[1];
  return scheme === undefined || webSchemes.has(scheme) ? undefined : scheme;
}

/**
 * What --allow-origin takes: an origin, all of an app's scheme (`chrome-extension://*`), or `null`, which sandboxed frames
 * of every page send and pages that a browser opens from a file.
 */
export const AllowedOrigin = z
  .string()
  .refine(
    (origin) => origin === "null" || isWebOrigin(origin) || appSchemeOf(origin) !== undefined,
    'must be an origin such as "https://chat.example" or "app://notes.example", without a path; "*" may stand for the ' +
      'host of an app\'s scheme, as in "chrome-extension://*"',
  );

/** How the server was asked by the page whose origin is looked at. */
export interface AskedAs {
  /** `http` or `https`. */
  readonly protocol: string;
  /** Name and port, as in a Host header. */
  readonly host: string;
}

/** A page that this server itself has served, under whatever name it was allowed to be asked by. */
export function isOwnOrigin(origin: string, { protocol, host }: AskedAs): boolean {
  return isWebOrigin(origin) && origin === `${protocol}://${host}`.toLowerCase();
}

/** Whether a page of this origin may ask at all; `allowed` are those of --allow-origin. */
export function mayAsk(origin: string, asked: AskedAs, allowed: ReadonlySet<string>): boolean {
  if (allowed.has(origin) || isOwnHost(origin, asked) || isLoopbackOrigin(origin)) return true;
  if (origin === appFiles) return true;
  const scheme = appSchemeOf(origin);
  if (scheme !== undefined) return appSchemes.has(scheme) || allowed.has(`${scheme}://*`);
  return isWebOrigin(origin) && appHosts.has(new URL(origin).host);
}

/** Its own pages through a proxy that speaks HTTPS to them and HTTP to the server are allowed, too. */
function isOwnHost(origin: string, { host }: AskedAs): boolean {
  return isWebOrigin(origin) && new URL(origin).host === host.toLowerCase();
}

/** Pages that this machine serves to itself, on any port. */
function isLoopbackOrigin(origin: string): boolean {
  return /^https?:\/\/(localhost|127\.0\.0\.1|\[::1\])(:\d{1,5})?$/.test(origin);
}

/** The sentence for a page that may not ask, with the flag that would let it in. */
export function refusalOf(origin: string): string {
  if (origin === "null")
    return (
      'The origin "null" is not allowed: sandboxed frames of any web page send it, and pages that were opened from a ' +
      "file. Start the server with --allow-origin null to let all of them in."
    );
  const isNameable = origin.length <= originShownMax && AllowedOrigin.safeParse(origin).success;
  if (!isNameable) return "This origin is not allowed, and is of no form that --allow-origin takes.";
  return `The origin "${origin}" is not allowed. Start the server with --allow-origin ${origin} to add it.`;
}

/**
 * Whether a request was sent by a page or an app that this server has not served. Browsers leave `Origin` out of plain
 * GETs and say with `Sec-Fetch-Site` where those come from; programs send neither.
 */
export function isForeignPage(headers: {
  readonly isOwn: boolean;
  readonly origin: string | undefined;
  readonly site: string | undefined;
  readonly mode: string | undefined;
}): boolean {
  if (headers.origin !== undefined) return !headers.isOwn;
  switch (headers.site) {
    case undefined:
    case "same-origin":
      return false;
    case "none": // somebody has typed the address, or an extension asks
      return headers.mode !== "navigate";
    default:
      return true;
  }
}
