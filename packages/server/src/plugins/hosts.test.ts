import { describe, expect, it } from "vitest";
import type { ServerFlags } from "../config.ts";
import { scriptedApp } from "../testing/scripted-server.ts";

async function ask(
  headers: Record<string, string>,
  flags: ServerFlags = {},
  method: "GET" | "OPTIONS" = "GET",
) {
  await using house = await scriptedApp({ flags });
  return house.app.inject({ method, url: "/v1/models", headers });
}

describe("Host", () => {
  it.each(["localhost", "LOCALHOST:1337", "127.0.0.1:9", "[::1]:1337", "[::1]"])(
    "%s is taken",
    async (host) => {
      expect((await ask({ host })).statusCode).toBe(200);
    },
  );

  it.each([
    "localhost.evil.com",
    "127.0.0.1.evil.com",
    "evil.com",
    "evil-localhost",
    "localhost:80@evil.com",
    "localhost:1337.evil.com",
    "evil.com:localhost",
    "[::1].evil.com",
    "0.0.0.0:1337",
    "192.168.1.5",
    "localhost evil.com",
    "localhost.",
    "[",
  ])("%j is refused", async (host) => {
    const response = await ask({ host });
    expect(response.statusCode).toBe(403);
    expect(response.json().error).toMatchObject({ code: "forbidden", type: "permission_error" });
  });

  it("is taken when --allow-host names it, with any port, and nothing like it", async () => {
    const flags = { allowHost: ["chat.example"] };
    expect((await ask({ host: "Chat.Example:8443" }, flags)).statusCode).toBe(200);
    expect((await ask({ host: "a.chat.example" }, flags)).statusCode).toBe(403);
    expect((await ask({ host: "chat.example.evil.com" }, flags)).statusCode).toBe(403);
  });
});

describe("Origin", () => {
  it.each(["http://localhost:3000", "https://127.0.0.1", "http://[::1]:1337"])(
    "%s is taken",
    async (origin) => {
      const response = await ask({ host: "localhost:1337", origin });
      expect(response.statusCode).toBe(200);
      expect(response.headers["access-control-allow-origin"]).toBe(origin);
      expect(response.headers["vary"]).toBe("Origin");
    },
  );

  it.each([
    "http://localhost.evil.com",
    "http://127.0.0.1.evil.com:1337",
    "https://evil.com",
    "http://evil.com/localhost",
    "http://localhost:3000/path",
    "file://localhost",
    "null",
    "",
  ])("%j is refused", async (origin) => {
    const response = await ask({ host: "localhost:1337", origin });
    expect(response.statusCode).toBe(403);
    expect(response.headers["access-control-allow-origin"]).toBeUndefined();
  });

  it("is taken when it is the server's own, by an allowed name", async () => {
    const flags = { allowHost: ["chat.example"] };
    expect((await ask({ host: "chat.example", origin: "https://chat.example" }, flags)).statusCode).toBe(200);
    expect((await ask({ host: "localhost:1337", origin: "https://chat.example" }, flags)).statusCode).toBe(
      403,
    );
  });

  it("is taken when --allow-origin names it exactly", async () => {
    const flags = { allowOrigin: ["https://chat.example"] };
    expect((await ask({ host: "localhost", origin: "https://chat.example" }, flags)).statusCode).toBe(200);
    expect((await ask({ host: "localhost", origin: "http://chat.example" }, flags)).statusCode).toBe(403);
    expect((await ask({ host: "localhost", origin: "https://chat.example:444" }, flags)).statusCode).toBe(
      403,
    );
  });

  it("may be absent: programs send none", async () => {
    const response = await ask({ host: "localhost" });
    expect(response.statusCode).toBe(200);
    expect(response.headers["access-control-allow-origin"]).toBeUndefined();
  });
});

describe("a preflight", () => {
  const preflight = {
    host: "localhost:1337",
    "access-control-request-method": "POST",
    "access-control-request-headers": "authorization,content-type,x-stainless-lang",
  };

  it("is answered for an allowed origin, before any key is asked for", async () => {
    const response = await ask(
      { ...preflight, origin: "http://localhost:3000" },
      { apiKey: ["secret"] },
      "OPTIONS",
    );
    expect(response.statusCode).toBe(204);
    expect(response.headers).toMatchObject({
      "access-control-allow-origin": "http://localhost:3000",
      "access-control-allow-headers": "authorization,content-type,x-stainless-lang",
      "access-control-allow-methods": expect.stringContaining("POST"),
    });
  });

  it("is refused for another origin", async () => {
    const response = await ask({ ...preflight, origin: "https://evil.com" }, {}, "OPTIONS");
    expect(response.statusCode).toBe(403);
    expect(response.headers["access-control-allow-methods"]).toBeUndefined();
  });
});
