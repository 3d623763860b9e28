// The test server over streamable HTTP on loopback.
import { createServer, type IncomingHttpHeaders, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { NodeStreamableHTTPServerTransport, toNodeHandler } from "@modelcontextprotocol/node";
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
  const { url, end } = await listening((request, response) => {
    headers.push(request.headers);
    if (token !== undefined && request.headers.authorization !== `Bearer ${token}`) {
      response.writeHead(401).end();
      return;
    }
    void handle(request, response);
  });
  return { url, headers, [Symbol.asyncDispose]: end };
}

export interface SessionServer extends AsyncDisposable {
  url: string;
  /** The headers of requests that end a session. */
  deletions: IncomingHttpHeaders[];
}

/** One with a session, as servers of the older protocol keep it. `isSilent`: it does not respond to its end. */
export async function sessionServer({ isSilent = false } = {}): Promise<SessionServer> {
  const deletions: IncomingHttpHeaders[] = [];
  const transport = new NodeStreamableHTTPServerTransport({ sessionIdGenerator: () => "a-session" });
  await oddServer(["ping"]).connect(transport);
  const { url, end } = await listening((request, response) => {
    if (request.method === "DELETE") deletions.push(request.headers);
    if (request.method !== "DELETE" || !isSilent) void transport.handleRequest(request, response);
  });
  return { url, deletions, [Symbol.asyncDispose]: end };
}

async function listening(listener: RequestListener): Promise<{ url: string; end: () => Promise<void> }> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const end = async (): Promise<void> => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  return { url: `http://127.0.0.1:${port}/mcp`, end };
}
