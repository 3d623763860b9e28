// The scripted server of one test file, and a client of it: `const { server, client } = await serverAndClient()` at the file's top.
import { afterAll } from "vitest";

import { Ingle, type IngleOptions } from "../src/client.ts";
import { startServer, type MisbehavingServer } from "./misbehaving-server.ts";

/** `path` follows the server's address in the client's `baseUrl`. By default, the client does not retry. */
export async function serverAndClient(
  path = "",
  options: IngleOptions = {},
): Promise<{ server: MisbehavingServer; client: Ingle }> {
  const server = await startServer();
  afterAll(() => server[Symbol.asyncDispose]());
  const client = new Ingle({ baseUrl: `${server.url}${path}`, maxRetries: 0, timeoutMs: 5_000, ...options });
  return { server, client };
}
