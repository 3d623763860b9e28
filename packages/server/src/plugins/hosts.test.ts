import { describe, expect, it } from "vitest";
import type { ServerFlags } from "../config.ts";
import { scriptedApp } from "../../test/harness/scripted-server.ts";

async function ask(
  headers: Record<string, string>,
  flags: ServerFlags = {},
  method: "GET" | "OPTIONS" = "GET",
) {
  await using scripted = await scriptedApp({ flags });
  return await scripted.app.inject({ method, url: "/v1/models", headers });
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

  it("that is refused is told with the flag that lets it in", async () => {
    const { error } = (await ask({ host: "host.docker.internal:1337" })).json();
    expect(error.message).toContain('"host.docker.internal" is not allowed');
    expect(error.message).toContain("--allow-host host.docker.internal ");
    expect((await ask({ host: "a b" })).json().error.message).not.toContain("a b");
    const flags = { allowHost: ["host.docker.internal"] };
    expect((await ask({ host: "host.docker.internal:1337" }, flags)).statusCode).toBe(200);
  });

  it("of a trusted proxy's client is one of them, too", async () => {
    const flags = { trustProxy: ["127.0.0.1"], allowHost: ["chat.example"] };
    const forwarded = (name: string) => ({ host: "localhost", "x-forwarded-host": name });
    expect((await ask(forwarded("chat.example"), flags)).statusCode).toBe(200);
    expect((await ask(forwarded("evil.example"), flags)).statusCode).toBe(403);
    expect((await ask(forwarded("evil.example"))).statusCode).toBe(200); // nobody believes it
  });

  it("is taken when --allow-host names it, with any port, and nothing like it", async () => {
    const flags = { allowHost: ["chat.example"] };
    expect((await ask({ host: "Chat.Example:8443" }, flags)).statusCode).toBe(200);
    expect((await ask({ host: "a.chat.example" }, flags)).statusCode).toBe(403);
    expect((await ask({ host: "chat.example.evil.com" }, flags)).statusCode).toBe(403);
  });

  it.each([
    ["*.chat.example", "a.chat.example:443", 200],
    ["*.Chat.example", "A.b.chat.Example", 200],
    ["*.chat.example", "chat.example", 403],
    ["*.chat.example", "evilchat.example", 403],
    ["*.chat.example", "a.chat.example.evil.com", 403],
    ["*", "any.name.example:8443", 200],
    ["*", "a b", 403],
  ])("with --allow-host %s, %s is a %i", async (allowed, host, status) => {
    const flags = { host: "0.0.0.0", noAuth: true, allowHost: [allowed] };
    expect((await ask({ host }, flags)).statusCode).toBe(status);
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

  it.each([
    "app://obsidian.md",
    "vscode-webview://1hk5r3pd0fkm1ev5u3c6ud4v8k2l",
    "vscode-file://vscode-app",
    "chrome-extension://aaaabbbbccccddddeeeeffffgggghhhh",
    "moz-extension://8b6ae2a0-1f3d-4c4f-9a53-0c8a7c6f2b11",
    "safari-web-extension://8B6AE2A0-1F3D-4C4F-9A53-0C8A7C6F2B11",
    "tauri://localhost",
    "http://tauri.localhost",
    "https://tauri.localhost",
    "capacitor://localhost",
    "ionic://localhost",
    "file://",
  ])("%s of an installed app is taken", async (origin) => {
    const response = await ask({ host: "localhost:1337", origin });
    expect(response.statusCode).toBe(200);
    expect(response.headers["access-control-allow-origin"]).toBe(origin);
  });

  it.each([
    ["app://Chat", "app://Other.example", 200],
    ["steam://*", "steam://games", 200],
    ["steam://*", "steam-web://games", 403],
    ["steam://games", "steam://games", 200],
    ["steam://games", "steam://other", 403],
    ["null", "null", 200],
    ["http://chat.localhost", "http://chat.localhost", 200],
    ["http://chat.localhost", "http://other.localhost", 403],
  ])("with --allow-origin %s, %s is a %i", async (allowed, origin, status) => {
    const response = await ask({ host: "localhost", origin }, { allowOrigin: [allowed] });
    expect(response.statusCode).toBe(status);
  });

  it.each([
    ["steam://games", "--allow-origin steam://games "],
    ["https://chat.example", "--allow-origin https://chat.example "],
    ["null", "--allow-origin null "],
    ["http://evil.com/localhost", "--allow-origin does not accept origins of this form"],
    [`steam://${"x".repeat(300)}`, "--allow-origin does not accept origins of this form"],
  ])("%s that is refused is told with %s", async (origin, words) => {
    const { error } = (await ask({ host: "localhost", origin })).json();
    expect(error.message).toContain(words);
    expect(error.message.length).toBeLessThan(500);
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
      // A page deletes stored responses and conversations too.
      "access-control-allow-methods": "GET, POST, DELETE",
    });
  });

  it("is refused for another origin", async () => {
    const response = await ask({ ...preflight, origin: "https://evil.com" }, {}, "OPTIONS");
    expect(response.statusCode).toBe(403);
    expect(response.headers["access-control-allow-methods"]).toBeUndefined();
  });
});
