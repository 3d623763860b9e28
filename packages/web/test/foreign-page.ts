// A web page that is not Ingle's and tries to use it, in every way that a page has. Its browser has Ingle's cookie.
import { once } from "node:events";
import { createServer, type Server } from "node:http";

/** What a try of the page came to: what it could read, or "nothing". */
export interface Attempt {
  what: string;
  got: string;
}

/** A server of web pages on a port of this machine, under the name that is asked for. */
export class ForeignSite implements AsyncDisposable {
  readonly origin: string;
  readonly #server: Server;

  private constructor(server: Server, origin: string) {
    this.#server = server;
    this.origin = origin;
  }

  /** `localhost` is another site than 127.0.0.1 to a browser, and 127.0.0.1 the same site on another port. */
  static async start(name: "localhost" | "127.0.0.1"): Promise<ForeignSite> {
    const server = createServer((_request, response) => {
      response.writeHead(200, { "content-type": "text/html" }).end("<!doctype html><title>Foreign</title>");
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const address = server.address();
    if (address === null || typeof address === "string") throw new Error("the site has no port");
    return new ForeignSite(server, `http://${name}:${address.port}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, "close");
  }
}

/** Runs in the foreign page: nothing of this file is there. */
export async function tryEverything({
  ingle,
  orders,
}: {
  ingle: string;
  orders: readonly { path: string; body: object }[];
}): Promise<Attempt[]> {
  const attempts: Attempt[] = [];
  const attempt = async (what: string, action: () => Promise<string>): Promise<void> => {
    const got = await action().catch(() => "nothing");
    attempts.push({ what, got });
  };
  /** A reply to a page that may not read it is empty there. */
  const readable = (text: string): string => (text === "" ? "nothing" : text);
  const readings = ["/api/v1/models", "/api/v1/server", "/api/v1/session", "/v1/models", "/"];
  for (const path of readings) {
    await attempt(`read ${path}`, async () => (await fetch(ingle + path, { credentials: "include" })).text());
    await attempt(`read ${path} without CORS`, async () => {
      const reply = await fetch(ingle + path, { credentials: "include", mode: "no-cors" });
      return readable(await reply.text());
    });
  }
  for (const { path, body } of orders) {
    const text = JSON.stringify(body);
    for (const type of ["application/json", "text/plain", "application/x-www-form-urlencoded"]) {
      const order = {
        method: "POST",
        credentials: "include",
        body: text,
        headers: { "content-type": type },
      } as const;
      await attempt(`order ${path} as ${type}`, async () => (await fetch(ingle + path, order)).text());
      await attempt(`order ${path} as ${type} without CORS`, async () => {
        const reply = await fetch(ingle + path, { ...order, mode: "no-cors" });
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
        source.addEventListener("error", () => reject(new Error("refused")));
        setTimeout(() => reject(new Error("silent")), 2_000);
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
        element.addEventListener("error", () => reject(new Error("refused")));
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
