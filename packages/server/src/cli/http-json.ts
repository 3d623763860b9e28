// Requests of the command line to servers that respond in JSON.
import { parseJson } from "@ingle/protocol/json-shape";

interface JsonRequest {
  readonly method: "GET" | "POST";
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: object | undefined;
  readonly signal: AbortSignal;
  /** Default: redirects are followed. */
  readonly redirect?: "error";
}

/** `json` is undefined for a body that is not JSON. Throws what `fetch` throws. */
export async function requestJson(
  url: string,
  { body, headers, ...init }: JsonRequest,
): Promise<{ status: number; json: unknown }> {
  const response = await fetch(url, {
    ...init,
    headers: body === undefined ? headers : { ...headers, "content-type": "application/json" },
    body: body === undefined ? null : JSON.stringify(body),
  });
  return { status: response.status, json: parseJson(await response.text()) };
}

/** `fetch` throws "fetch failed", with the reason as its cause. */
export function fetchFailure(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error && error.cause.message !== "" ? error.cause.message : error.message;
}
