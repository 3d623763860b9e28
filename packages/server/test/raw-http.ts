// Requests written by hand to a plain socket, for what no HTTP client would send.
import { once } from "node:events";
import { connect, type Socket } from "node:net";

/** How long a test waits for a response or a disconnect. */
const waitMs = 10_000;

export interface RawResponse {
  /** 0 if the connection ended without a response. */
  status: number;
  head: string;
  body: string;
}

/** Sends bytes and reads until the server ends the connection. */
export async function exchange(port: number, ...pieces: readonly string[]): Promise<RawResponse> {
  const socket = await open(port);
  for (const piece of pieces) socket.write(piece);
  return readResponse(socket);
}

export async function open(port: number): Promise<Socket> {
  const socket = connect({ port, host: "127.0.0.1", noDelay: true });
  await once(socket, "connect", { signal: AbortSignal.timeout(waitMs) });
  return socket;
}

/** Everything until the server ends the connection, which may be a reset if it refused to read on. */
export async function readResponse(socket: Socket): Promise<RawResponse> {
  let text = "";
  socket.on("data", (chunk: Buffer) => (text += chunk.toString()));
  socket.on("error", () => {});
  await once(socket, "close", { signal: AbortSignal.timeout(waitMs) });
  const [head = "", ...rest] = text.split("\r\n\r\n");
  return { status: Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1] ?? 0), head, body: rest.join("\r\n\r\n") };
}

/** A request's text; `Connection: close` marks the end of the response. */
export function requestText(
  line: string,
  headers: readonly string[] = ["Host: localhost"],
  body = "",
): string {
  return [`${line} HTTP/1.1`, "Connection: close", ...headers, "", body].join("\r\n");
}

/** A chat request's text. */
export function chatText(body: object): string {
  const payload = JSON.stringify(body);
  return requestText(
    "POST /v1/chat/completions",
    ["Host: localhost", "Content-Type: application/json", `Content-Length: ${Buffer.byteLength(payload)}`],
    payload,
  );
}
