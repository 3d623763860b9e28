// Sends a request that may take hours: `fetch` would give up after five minutes without a response.
import http from "node:http";
import https from "node:https";
import { parseJson } from "@ingle/protocol/json-shape";

interface JsonResponse {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  /** Undefined for a body that is not JSON. */
  readonly json: unknown;
}

interface PostOptions {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: object;
  readonly signal: AbortSignal;
}

/** Follows no redirects. Rejects with the signal's reason, or Node's error if there is no response. */
export async function postJson(url: string, { headers, body, signal }: PostOptions): Promise<JsonResponse> {
  const { request } = url.startsWith("https:") ? https : http;
  const text = JSON.stringify(body);
  const length = { "content-type": "application/json", "content-length": Buffer.byteLength(text) };
  try {
    return await new Promise((resolve, reject) => {
      const sent = request(url, { method: "POST", headers: { ...headers, ...length }, signal });
      sent.on("error", reject);
      sent.on("response", (response) => void collect(response).then(resolve, reject));
      sent.end(text);
    });
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  }
}

async function collect(response: http.IncomingMessage): Promise<JsonResponse> {
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(Buffer.from(chunk));
  const { statusCode: status = 0, headers } = response;
  return { status, headers, json: parseJson(Buffer.concat(chunks).toString("utf8")) };
}
