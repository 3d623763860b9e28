// The hub's address, token and proxies, from the same variables that the hub's own tools read.
import { EngineError } from "../../base/errors.ts";

export interface HubSettings {
  /** Without a slash at the end. */
  endpoint: string;
  /** Sent to the endpoint's origin only, never to the targets of redirects. */
  token: string | undefined;
  /** For https and http addresses; undefined means a direct connection. */
  proxies: { https: string | undefined; http: string | undefined };
  /** Comma-separated hosts that are reached directly; a name includes its subdomains. */
  noProxy: string;
}

const publicEndpoint = "https://huggingface.co";

/** Throws `invalid_request` for an `HF_ENDPOINT` or proxy that is not an address. */
export function hubSettings(env: NodeJS.ProcessEnv): HubSettings {
  const endpoint = address("HF_ENDPOINT", env["HF_ENDPOINT"]) ?? publicEndpoint;
  const http = proxy(env, "HTTP_PROXY");
  return {
    endpoint: endpoint.replace(/\/+$/, ""),
    token: nonEmpty(env["HF_TOKEN"]),
    proxies: { https: proxy(env, "HTTPS_PROXY") ?? http, http },
    noProxy: nonEmpty(env["no_proxy"]) ?? nonEmpty(env["NO_PROXY"]) ?? "",
  };
}

/** By convention, the lower-case name takes precedence. */
function proxy(env: NodeJS.ProcessEnv, name: string): string | undefined {
  return address(name, nonEmpty(env[name.toLowerCase()]) ?? env[name]);
}

function address(name: string, value: string | undefined): string | undefined {
  const text = nonEmpty(value);
  if (text === undefined) return undefined;
  const isAddress = URL.canParse(text) && /^(https?|socks\w*):$/.test(new URL(text).protocol);
  if (isAddress) return text;
  throw new EngineError("invalid_request", `${name} must be an address such as https://host:port.`, {
    details: { variable: name },
  });
}

/** Shells and compose files set variables to an empty text to mean "not set". */
function nonEmpty(value: string | undefined): string | undefined {
  return value === undefined || value.trim() === "" ? undefined : value.trim();
}
