// Who may use the app's control address: its own page with its cookie, and programs with its token. Everybody else is refused, in
// every way in which a browser can be made to send a request.
import path from "node:path";
import type { FastifyInstance, InjectOptions, LightMyRequestResponse } from "fastify";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { KeyRing } from "../src/access/keys.ts";
import { pageTicket } from "../src/access/page-tickets.ts";
import { buildApp } from "../src/app.ts";
import { ChatStore } from "../src/chats/chat-store.ts";
import { McpControl } from "../src/mcp/mcp-control.ts";
import type { Page } from "../src/page/page-files.ts";
import { scriptedControl, type ScriptedControl } from "./harness/scripted-control.ts";
import { scriptedRegistry, testConfig } from "./harness/scripted-server.ts";

const token = "t".repeat(43);
const origin = "http://127.0.0.1:1336";
const host = "127.0.0.1:1336";
const page: Page = {
  files: new Map([
    [
      "/",
      {
        path: "/",
        type: "text/html; charset=utf-8",
        isHashed: false,
        read: async () => ({ encoding: "identity", bytes: Buffer.from("<p>shell"), etag: '"1"' }),
      },
    ],
  ]),
};

/** The headers that every browser sends for requests of this server's own page, of its address bar, and of other pages. */
const own = { "sec-fetch-site": "same-origin", "sec-fetch-mode": "cors" };
const typed = { "sec-fetch-site": "none", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document" };
const reading: InjectOptions = { url: "/api/v1/server" };
const changing: InjectOptions = {
  method: "POST",
  url: "/api/v1/server/settings",
  payload: { starts_with_app: false },
};

let app: FastifyInstance;
let control: ScriptedControl;
let cookie: string;

async function controlApp({ server, folder }: ScriptedControl): Promise<FastifyInstance> {
  const config = testConfig({ port: 1336 });
  const keys = new KeyRing();
  keys.addToken(token);
  keys.needKey();
  const { registry } = await scriptedRegistry();
  const mcp = new McpControl({ file: undefined, env: {} });
  const chats = await ChatStore.open(path.join(folder, "chats.db"));
  const built = await buildApp(config, { registry, keys, page, app: { token, server, mcp, chats } });
  built.addHook("onClose", () => chats[Symbol.dispose]());
  built.addHook("onClose", () => mcp[Symbol.asyncDispose]());
  built.addHook("onClose", () => registry[Symbol.asyncDispose]());
  return built;
}

beforeAll(async () => {
  control = await scriptedControl();
  app = await controlApp(control);
  const opened = await ask({ url: `/?token=${token}` }, typed);
  cookie = String(opened.headers["set-cookie"]).split(";")[0] ?? "";
});
afterAll(async () => {
  await app.close();
  await control[Symbol.asyncDispose]();
});

async function ask(request: InjectOptions, headers: Record<string, string>): Promise<LightMyRequestResponse> {
  return await app.inject({ ...request, headers: { host, ...headers } });
}

async function status(request: InjectOptions, headers: Record<string, string>): Promise<number> {
  return (await ask(request, headers)).statusCode;
}

describe("the address with the token", () => {
  it("sets a cookie that no script can read, and the token disappears from the address", async () => {
    const opened = await ask({ url: `/?token=${token}` }, typed);
    expect([opened.statusCode, opened.headers.location]).toEqual([303, "/"]);
    expect(opened.headers["set-cookie"]).toMatch(
      /^ingle-1336=[\w-]{43}; HttpOnly; SameSite=Strict; Path=\/$/,
    );
    expect(opened.headers["set-cookie"]).not.toContain(token);
    expect(opened.headers["cache-control"]).toBe("no-store");
  });

  it("may be opened again; each cookie has its own secret", async () => {
    const again = await ask({ url: `/?token=${token}` }, typed);
    expect(again.statusCode).toBe(303);
    expect(again.headers["set-cookie"]).not.toContain(cookie);
    expect(await status(reading, { cookie, ...own })).toBe(200);
  });

  it("with a wrong token shows the page without any rights", async () => {
    const opened = await ask({ url: "/?token=wrong" }, typed);
    expect([opened.statusCode, opened.headers.location, opened.headers["set-cookie"]]).toEqual([
      303,
      "/",
      undefined,
    ]);
  });

  it("with a ticket derived from the token works once", async () => {
    const url = `/?token=${pageTicket(token)}`;
    expect((await ask({ url }, typed)).headers["set-cookie"]).toContain("ingle-1336=");
    expect((await ask({ url }, typed)).headers["set-cookie"]).toBeUndefined();
  });

  it.each([
    ["opened by another site", { "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate" }, "GET"],
    ["in another port's image", { "sec-fetch-site": "same-site", "sec-fetch-mode": "no-cors" }, "GET"],
    ["requested with HEAD", typed, "HEAD"],
  ] as const)("sets no cookie when it is %s", async (_what, headers, method) => {
    const opened = await ask({ url: `/?token=${token}`, method }, headers);
    expect([opened.statusCode, opened.headers["set-cookie"]]).toEqual([200, undefined]);
  });
});

describe("the app's own page", () => {
  it("reads and writes with its cookie", async () => {
    expect(await status(reading, { cookie, ...own })).toBe(200);
    expect(await status(changing, { cookie, origin, ...own })).toBe(200);
    expect((await ask({ url: "/api/v1/session" }, { cookie, ...own })).json()).toEqual({
      right: "management",
      is_app: true,
      keeps_chats: true,
    });
  });

  it.each(["localhost:1336", "[::1]:1336", "LOCALHOST:1336"])(
    "leads from %s to its one host name, with path, query and token",
    async (other) => {
      for (const url of ["/", `/?token=${token}`, "/?a=%2F"]) {
        const opened = await app.inject({ url, headers: { host: other, ...typed } });
        expect([opened.statusCode, opened.headers.location]).toEqual([307, `http://127.0.0.1:1336${url}`]);
        expect([opened.headers["set-cookie"], opened.headers["cache-control"]]).toEqual([
          undefined,
          "no-store",
        ]);
      }
      const asset = await app.inject({ url: "/api/v1/session", headers: { host: other } });
      expect(asset.statusCode).toBe(200);
    },
  );

  it("stays under the name localhost if asked to, with a cookie of that name", async () => {
    const byName = { host: "localhost:1336" };
    const opened = await app.inject({ url: `/?stay&token=${token}`, headers: byName });
    expect(opened.headers.location).toBe("/?stay");
    expect((await app.inject({ url: "/?stay", headers: byName })).statusCode).toBe(200);
    const named = String(opened.headers["set-cookie"]).split(";")[0] ?? "";
    const headers = { ...byName, cookie: named, origin: "http://localhost:1336", ...own };
    expect(await status(changing, headers)).toBe(200);
  });

  it("has its cookie found among others, also behind a false one of the same name", async () => {
    const cookies = `theme=dark; ingle-1336=false; ${cookie}; ingle-1337=x`;
    expect(await status(reading, { cookie: cookies, ...own })).toBe(200);
  });

  it("is shown without a cookie, but without data", async () => {
    const shell = await ask({ url: "/" }, typed);
    expect([shell.statusCode, shell.body]).toEqual([200, "<p>shell"]);
    const session = await ask({ url: "/api/v1/session" }, own);
    expect([session.statusCode, session.json()]).toEqual([
      200,
      { right: "none", is_app: true, keeps_chats: true },
    ]);
    const refused = await ask(reading, own);
    expect([refused.statusCode, refused.json().error.code]).toEqual([401, "unauthorized"]);
    expect(refused.json().error.message).toContain("`ingle app` has printed");
  });
});

describe("programs", () => {
  it("may use the token as a key", async () => {
    const authorization = `Bearer ${token}`;
    expect(await status(reading, { authorization })).toBe(200);
    expect(await status(changing, { authorization })).toBe(200);
    expect(await status({ url: "/v1/models" }, { authorization })).toBe(200);
  });

  it("on this machine may do nothing without it", async () => {
    for (const request of [reading, changing, { url: "/v1/models" }, { url: "/api/v1/state" }])
      expect(await status(request, {})).toBe(401);
  });
});

/** Requests with the right cookie, as browsers send it from pages that are not ours, or without the usual headers. */
describe.each<[string, Record<string, string>]>([
  ["another site's page", { origin: "https://evil.example", "sec-fetch-site": "cross-site" }],
  ["another site's page that hides its origin", { origin: "null", "sec-fetch-site": "cross-site" }],
  ["another site's form or image", { "sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors" }],
  ["a page on another port", { origin: "http://127.0.0.1:3000", "sec-fetch-site": "same-site" }],
  [
    "a page on another port under another name",
    { origin: "http://localhost:1336", "sec-fetch-site": "cross-site" },
  ],
  ["another port's image or script", { "sec-fetch-site": "same-site", "sec-fetch-mode": "no-cors" }],
  ["a page on another port in an old browser", { origin: "http://127.0.0.1:3000" }],
  ["the same host with HTTPS", { origin: "https://127.0.0.1:1336" }],
  ["an installed app's page", { origin: "app://obsidian.md" }],
  ["a page opened from a file", { origin: "file://" }],
  ["an extension", { "sec-fetch-site": "none", "sec-fetch-mode": "cors" }],
  ["a link on another site", { "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate" }],
  ["a link on another port's page", { "sec-fetch-site": "same-site", "sec-fetch-mode": "navigate" }],
])("%s", (_who, headers) => {
  it("reads and writes nothing, and CORS allows it nothing", async () => {
    for (const request of [reading, changing, { url: "/v1/models" }]) {
      const response = await ask(request, { cookie, ...headers });
      expect([401, 403]).toContain(response.statusCode);
      expect(response.headers["access-control-allow-origin"]).toBeUndefined();
      expect(response.headers["access-control-allow-credentials"]).toBeUndefined();
    }
  });

  it("cannot start a session, even with a right key", async () => {
    const request: InjectOptions = { method: "POST", url: "/api/v1/session", payload: { key: token } };
    const response = await ask(request, headers);
    expect([response.statusCode, response.headers["set-cookie"]]).toEqual([403, undefined]);
  });

  it("is refused in a preflight", async () => {
    const response = await ask(
      { ...changing, method: "OPTIONS" },
      { ...headers, "access-control-request-method": "POST" },
    );
    expect([401, 403, 405]).toContain(response.statusCode);
    expect(response.headers["access-control-allow-origin"]).toBeUndefined();
  });
});

describe("writing", () => {
  it.each([{}, own, typed])("needs the page's own Origin as well as the cookie: %j", async (headers) => {
    expect(await status(changing, { cookie, ...headers })).toBe(401);
  });

  it.each(["HEAD", "GET"] as const)("is not possible with %s", async (method) => {
    expect(await status({ ...reading, method }, { cookie, ...own })).toBe(200);
  });
});

describe("reading", () => {
  it.each(["HEAD", "GET"] as const)(
    "needs the browser's word on who sends %s as well as the cookie",
    async (method) => {
      expect(await status({ ...reading, method }, { cookie })).toBe(401);
      expect(await status({ ...reading, method }, { cookie, "sec-fetch-mode": "cors" })).toBe(401);
      for (const told of [own, typed, { origin }])
        expect(await status({ ...reading, method }, { cookie, ...told })).toBe(200);
    },
  );
});

describe("another cookie", () => {
  it.each([
    "ingle-1336=",
    `ingle-1336=${"A".repeat(43)}`,
    `ingle-1336=${token}`,
    "ingle-1336",
    `ingle-1336=${"A".repeat(10_000)}`,
    "=; ;;; =x",
  ])("%s is refused", async (wrong) => {
    expect(await status(reading, { cookie: wrong, ...own })).toBe(401);
  });

  it("of another port's server has another name, and would be unknown", async () => {
    const secret = cookie.split("=")[1] ?? "";
    expect(await status(reading, { cookie: `ingle-1337=${secret}`, ...own })).toBe(401);
    await using second = await scriptedControl();
    const other = await controlApp(second);
    const opened = await other.inject({ url: `/?token=${token}`, headers: { host } });
    const otherCookie = String(opened.headers["set-cookie"]).split(";")[0] ?? "";
    await other.close();
    expect(await status(reading, { cookie: otherCookie, ...own })).toBe(401);
  });
});

describe("a name that resolves to this machine", () => {
  it.each(["evil.example:1336", "127.0.0.1.evil.example", "0.0.0.0:1336", "192.0.2.1:1336"])(
    "%s is refused, even with the cookie",
    async (name) => {
      const headers = { host: name, origin: `http://${name}`, cookie, ...own };
      for (const request of [reading, changing, { url: "/" }])
        expect((await app.inject({ ...request, headers })).statusCode).toBe(403);
    },
  );
});
