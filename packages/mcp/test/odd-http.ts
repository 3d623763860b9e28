// The test server over streamable HTTP on loopback.
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { toNodeHandler } from "@modelcontextprotocol/node";
import { createMcpHandler } from "@modelcontextprotocol/server";
import { oddServer } from "./odd-tools.js";

export interface OddHttpServer extends AsyncDisposable {
  url: string;
  /** The headers of every request. */
  headers: IncomingHttpHeaders[];
}

/** `token` is required of requests. `legacy` says what becomes of clients of the older protocol. */
export async function oddHttpServer(
  options: { names?: string[]; token?: string; legacy?: "stateless" | "reject" } = {},
): Promise<OddHttpServer> {
  const { names, token, legacy = "stateless" } = options;
  const headers: IncomingHttpHeaders[] = [];
  const handle = toNodeHandler(createMcpHandler(() => oddServer(names), { legacy }));
  const server = createServer((request, response) => {
    headers.push(request.headers);
    if (token !== undefined && request.headers.authorization !== `Bearer ${token}`) {
      response.writeHead(401).end();
      return;
    }
    void handle(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    headers,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
