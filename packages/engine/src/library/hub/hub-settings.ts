// Which hub is asked, in whose name and through which proxy: the variables that the hub's own tools read. Used by http.ts
// and hub-api.ts.
import { EngineError } from "../../errors.ts";

export interface HubSettings {
  /** Without a slash at the end. */
  endpoint: string;
  /** Sent to the endpoint's own origin only, never to where it redirects. */
  token: string | undefined;
  /** For https and for http addresses; undefined is a direct connection. */
  proxies: { https: string | undefined; http: string | undefined };
  /** Hosts that are reached directly, with commas between them; a name also means what lies under it. */
  noProxy: string;
}

const publicEndpoint = "https://huggingface.co";

/** Throws `invalid_request` for an `HF_ENDPOINT` or proxy that is no address. */
export function hubSettings(env: NodeJS.ProcessEnv): HubSettings {
  const endpoint = address("HF_ENDPOINT", env["HF_ENDPOINT"]) ?? publicEndpoint;
  const http = proxy(env, "HTTP_PROXY");
  return {
    endpoint: endpoint.replace(/\/+$/, ""),
    token: said(env["HF_TOKEN"]),
    proxies: { https: proxy(env, "HTTPS_PROXY") ?? http, http },
    noProxy: said(env["no_proxy"]) ?? said(env["NO_PROXY"]) ?? "",
  };
}

/** Whether nothing may be asked over the network, by our own variable or by the hub's. */
export function isOffline(env: NodeJS.ProcessEnv): boolean {
  return ["INGLE_OFFLINE", "HF_HUB_OFFLINE"].some((name) => /^(1|true|yes|on)$/i.test(env[name] ?? ""));
}

/** By custom, the lower-case name wins. */
function proxy(env: NodeJS.ProcessEnv, name: string): string | undefined {
  return address(name, said(env[name.toLowerCase()]) ?? env[name]);
}

function address(name: string, value: string | undefined): string | undefined {
  const text = said(value);
  if (text === undefined) return undefined;
  const isAddress = URL.canParse(text) && /^(https?|socks\w*):$/.test(new URL(text).protocol);
  if (isAddress) return text;
  throw new EngineError("invalid_request", `${name} must be an address such as https://host:port.`, {
    details: { variable: name },
  });
}

/** Shells and compose files set variables to nothing when they mean "not set". */
function said(value: string | undefined): string | undefined {
  return value === undefined || value.trim() === "" ? undefined : value.trim();
}
