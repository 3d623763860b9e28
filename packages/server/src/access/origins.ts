// Which host names requests may use, and which web pages and apps may call the server: the values of --allow-host and --allow-origin,
// the origins that are always allowed, and the message for all others.
import { z } from "zod";
import { isIP } from "node:net";

const hostName = /^(?=.{1,253}$)[a-z0-9_]([a-z0-9_.-]*[a-z0-9_])?$/i;

/** Whether a text is an address, or a host name without a port. */
export function isHostName(name: string): boolean {
  return isIP(name) !== 0 || hostName.test(name);
}

/** A host name or address without a port; IPv6 addresses without brackets. */
export const HostName = z
  .string()
  .refine(isHostName, "must be a host name or address without a port")
  .transform((name) => name.toLowerCase());

/** Allows every name: for a server that only a proxy can reach, under names that are unknown before the deployment. */
export const everyHost = "*";

/** A name, every name below one (`*.example.com`), or every name. */
export const AllowedHost = z
  .string()
  .refine(
    (name) =>
      name === everyHost || isHostName(name) || (name.startsWith("*.") && hostName.test(name.slice(2))),
    'must be a host name or address without a port, "*.example.com" for every name below one, or "*" for every name',
  )
  .transform((name) => name.toLowerCase());

/** Whether a name, in lower case and without a port, is among the allowed ones. */
export function allowedBy(allowed: readonly string[]): (name: string) => boolean {
  const names = new Set(allowed);
  const endings = allowed.filter((name) => name.startsWith("*.")).map((name) => name.slice(1));
  return (name) => names.has(everyHost) || names.has(name) || endings.some((ending) => name.endsWith(ending));
}

/**
 * Schemes of installed apps and extensions: no web page can send such an origin. They may use models like any program. They may
 * not manage them, because their pages may show content from elsewhere.
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
/** The origin of pages that apps load from files. Pages that a browser opens from a file send `null`. */
const appFiles = "file://";
/** Hosts of apps that use a web scheme. Browsers resolve these names to this machine only. */
const appHosts = new Set(["tauri.localhost"]);

/** Maximum length of an origin that an error message quotes. */
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

/** The scheme of an app's origin; undefined for web pages, which cannot be allowed by a wildcard. */
function appScheme(origin: string): string | undefined {
  const scheme = appOrigin.exec(origin)?.[1];
  return scheme === undefined || webSchemes.has(scheme) ? undefined : scheme;
}

/**
 * A value of --allow-origin: an origin, all origins of an app's scheme (`chrome-extension://*`), or `null`, which sandboxed
 * frames of any page send, and pages that a browser opens from a file.
 */
export const AllowedOrigin = z
  .string()
  .refine(
    (origin) => origin === "null" || isWebOrigin(origin) || appScheme(origin) !== undefined,
    'must be an origin such as "https://chat.example" or "app://notes.example", without a path; "*" may stand for the ' +
      'host of an app\'s scheme, as in "chrome-extension://*"',
  );

/** The address under which the page called the server. */
interface AskedAs {
  /** `http` or `https`. */
  readonly protocol: string;
  /** Name and port, as in a Host header. */
  readonly host: string;
}

/** Whether this server has served the page, under any of its allowed names. */
export function isOwnOrigin(origin: string, { protocol, host }: AskedAs): boolean {
  return isWebOrigin(origin) && origin === `${protocol}://${host}`.toLowerCase();
}

/** Whether a page of this origin may call the server. `allowed`: the values of --allow-origin. */
export function mayAsk(origin: string, asked: AskedAs, allowed: ReadonlySet<string>): boolean {
  if (allowed.has(origin) || isOwnHost(origin, asked) || isLoopbackOrigin(origin)) return true;
  if (origin === appFiles) return true;
  const scheme = appScheme(origin);
  if (scheme !== undefined) return appSchemes.has(scheme) || allowed.has(`${scheme}://*`);
  return isWebOrigin(origin) && appHosts.has(new URL(origin).host);
}

/** Includes the server's own pages behind a proxy that terminates HTTPS. */
function isOwnHost(origin: string, { host }: AskedAs): boolean {
  return isWebOrigin(origin) && new URL(origin).host === host.toLowerCase();
}

/** Pages served on this machine, on any port. */
function isLoopbackOrigin(origin: string): boolean {
  return /^https?:\/\/(localhost|127\.0\.0\.1|\[::1\])(:\d{1,5})?$/.test(origin);
}

/** The error message for an origin that is not allowed, with the flag that would allow it. */
export function originRefusal(origin: string): string {
  if (origin === "null")
    return (
      'The origin "null" is not allowed: sandboxed frames of any web page send it, and pages that were opened from a ' +
      "file. Start the server with --allow-origin null to let all of them in."
    );
  const isNameable = origin.length <= originShownMax && AllowedOrigin.safeParse(origin).success;
  if (!isNameable)
    return "This origin is not allowed, and --allow-origin does not accept origins of this form.";
  return `The origin "${origin}" is not allowed. Start the server with --allow-origin ${origin} to add it.`;
}

/**
 * Whether a page or app that this server has not served sent the request. Browsers omit `Origin` from plain GETs but send
 * `Sec-Fetch-Site`; other programs send neither.
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
    case "none": // a typed address, or an extension
      return headers.mode !== "navigate";
    default:
      return true;
  }
}
