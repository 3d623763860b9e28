// A web page of another origin that tries to use Ingle in every way a page can. Its browser has Ingle's cookie.
import { once } from "node:events";
import { createServer, type Server } from "node:http";

/** An attempt of the page, and what it could read, or "nothing". */
export interface Attempt {
  what: string;
  got: string;
}

/** A web site on a port of this machine. */
export class OtherSite implements AsyncDisposable {
  readonly origin: string;
  readonly #server: Server;

  private constructor(server: Server, origin: string) {
    this.#server = server;
    this.origin = origin;
  }

  /** To a browser, `localhost` is another site than 127.0.0.1, and another port of 127.0.0.1 is another origin of the same site. */
  static async start(name: "localhost" | "127.0.0.1"): Promise<OtherSite> {
    const server = createServer((_request, response) => {
      response.writeHead(200, { "content-type": "text/html" }).end("<!doctype html><title>Other</title>");
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const address = server.address();
    if (address === null || typeof address === "string") throw new Error("The site has no port.");
    return new OtherSite(server, `http://${name}:${address.port}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, "close");
  }
}

/** Runs in the other page, without access to the rest of this file. */
export async function tryEverything({
  ingle,
  requests,
}: {
  ingle: string;
  requests: readonly { path: string; body: object }[];
}): Promise<Attempt[]> {
  const attempts: Attempt[] = [];
  const attempt = async (what: string, action: () => Promise<string>): Promise<void> => {
    const got = await action().catch(() => "nothing");
    attempts.push({ what, got });
  };
  /** A response that the page may not read is empty. */
  const readable = (text: string): string => (text === "" ? "nothing" : text);
  const readings = ["/api/v1/models", "/api/v1/server", "/api/v1/session", "/v1/models", "/"];
  for (const path of readings) {
    await attempt(`read ${path}`, async () => (await fetch(ingle + path, { credentials: "include" })).text());
    await attempt(`read ${path} without CORS`, async () => {
      const reply = await fetch(ingle + path, { credentials: "include", mode: "no-cors" });
      return readable(await reply.text());
    });
  }
  for (const { path, body } of requests) {
    const text = JSON.stringify(body);
    for (const type of ["application/json", "text/plain", "application/x-www-form-urlencoded"]) {
      const request = {
        method: "POST",
        credentials: "include",
        body: text,
        headers: { "content-type": type },
      } as const;
      await attempt(`post ${path} as ${type}`, async () => (await fetch(ingle + path, request)).text());
      await attempt(`post ${path} as ${type} without CORS`, async () => {
        const reply = await fetch(ingle + path, { ...request, mode: "no-cors" });
        return readable(await reply.text());
      });
    }
    await attempt(`beacon to ${path}`, async () => {
      navigator.sendBeacon(ingle + path, new Blob([text], { type: "text/plain" }));
      return "nothing";
    });
  }
  await attempt("events", async () => {
    const source = new EventSource(`${ingle}/api/v1/events`, { withCredentials: true });
    try {
      return await new Promise<string>((resolve, reject) => {
        source.addEventListener("message", (event) => resolve(String(event.data)));
        source.addEventListener("error", () => reject(new Error("blocked")));
        setTimeout(() => reject(new Error("no event")), 2_000);
      });
    } finally {
      source.close();
    }
  });
  for (const tag of ["script", "img", "link"] as const) {
    await attempt(`<${tag}>`, async () => {
      const element = document.createElement(tag);
      const loaded = new Promise<string>((resolve, reject) => {
        element.addEventListener("load", () => resolve("loaded"));
        element.addEventListener("error", () => reject(new Error("blocked")));
      });
      if (element instanceof HTMLLinkElement) {
        element.rel = "stylesheet";
        element.href = `${ingle}/`;
      } else {
        element.src = tag === "img" ? `${ingle}/icon.svg` : `${ingle}/api/v1/models`;
      }
      document.body.append(element);
      return loaded;
    });
  }
  return attempts;
}
