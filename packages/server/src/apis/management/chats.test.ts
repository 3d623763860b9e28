import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ChatStore } from "../../chats/chat-store.ts";
import { McpControl } from "../../mcp/mcp-control.ts";
import { EventReader } from "../../../test/harness/event-reader.ts";
import { scriptedControl, type ScriptedControl } from "../../../test/harness/scripted-control.ts";
import { scriptedApp, type ScriptedApp } from "../../../test/harness/scripted-server.ts";

let folder: string;
let chats: ChatStore;
let control: ScriptedControl;
let server: ScriptedApp;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "ingle-chats-"));
  chats = await ChatStore.open(path.join(folder, "chats.db"));
  control = await scriptedControl();
  server = await scriptedApp({ app: makeAppOptions(chats) });
});
afterEach(async () => {
  await server[Symbol.asyncDispose]();
  await control[Symbol.asyncDispose]();
  chats[Symbol.dispose]();
  await rm(folder, { recursive: true, force: true });
});

const makeAppOptions = (kept: ChatStore | undefined) => ({
  token: "t".repeat(43),
  server: control.server,
  mcp: new McpControl({ file: undefined, env: {} }),
  chats: kept,
});
const put = { op: "put", kind: "conversation", id: "c", text: '{"a":1}', when: "always" };
const message = { op: "put", kind: "message", id: "m", conversation_id: "c", text: "{}", when: "always" };

async function post(url: string, payload: object, headers = {}) {
  return await server.app.inject({ method: "POST", url: `/api/v1/chats/${url}`, payload, headers });
}
async function get(url: string, headers = {}) {
  return await server.app.inject({ url: `/api/v1/chats${url}`, headers });
}

describe("/api/v1/chats", () => {
  it("keeps records and reads them again", async () => {
    const changed = await post("changes", { page: "p", changes: [put, message] });
    expect(changed.json()).toEqual({ applied: [true, true], revision: 1 });
    expect((await get("")).json()).toEqual({
      object: "list",
      data: [{ kind: "conversation", id: "c", conversation_id: null, revision: 1, text: '{"a":1}' }],
    });
    expect((await get("/records?conversation_id=c&kind=message")).json().data).toMatchObject([{ id: "m" }]);
    expect((await get("/record?kind=message&id=m")).json().data).toMatchObject([{ text: "{}" }]);
    expect((await get("/record?kind=message&id=x")).json().data).toEqual([]);
    expect((await get("")).headers["cache-control"]).toBe("no-store");
  });

  it.each([
    { ...put, kind: "secret" },
    { ...put, id: "" },
    { ...put, id: "a".repeat(129) },
    { ...put, when: "never" },
    { ...message, conversation_id: undefined },
    { op: "drop" },
  ])("refuses a malformed change: %j", async (change) => {
    const refused = await post("changes", { page: "p", changes: [put, change] });
    expect([refused.statusCode, refused.json().error.code]).toEqual([400, "invalid_request"]);
    expect(chats.list()).toEqual([]);
  });

  it.each([
    { "x-forwarded-for": "127.0.0.1" },
    { origin: "http://127.0.0.1:8080", "sec-fetch-site": "same-site" },
    { origin: "https://other.example", "sec-fetch-site": "cross-site" },
  ])("is closed to a request with %j", async (headers) => {
    const refused = [401, 403];
    expect(refused).toContain((await get("", headers)).statusCode);
    const changed = await post("changes", { page: "p", changes: [put] }, headers);
    expect(refused).toContain(changed.statusCode);
    expect(chats.list()).toEqual([]);
    const note = { page: "p", type: "i-write", id: "m" };
    expect(refused).toContain((await post("notes", note, headers)).statusCode);
  });

  it("does not exist on other servers, and is an error where the browser keeps chats", async () => {
    await using other = await scriptedApp();
    expect((await other.app.inject("/api/v1/chats")).statusCode).toBe(404);
    await using off = await scriptedApp({ app: makeAppOptions(undefined) });
    const refused = await off.app.inject("/api/v1/chats");
    expect([refused.statusCode, refused.json().error.code]).toEqual([501, "not_enabled"]);
    expect((await off.app.inject("/api/v1/session")).json()).toMatchObject({ keeps_chats: false });
    expect((await server.app.inject("/api/v1/session")).json()).toMatchObject({ keeps_chats: true });
    const proxied = { headers: { "x-forwarded-for": "192.0.2.1" }, url: "/api/v1/session" };
    expect((await server.app.inject(proxied)).json()).toMatchObject({ keeps_chats: false });
  });

  it("tells every page of changes and notes at once", async () => {
    const url = await server.app.listen({ host: "127.0.0.1", port: 0 });
    await using events = new EventReader(url);
    await events.next();
    chats.change({ page: "p", changes: [{ ...put, op: "put", kind: "conversation", when: "always" }] });
    let heard = await events.next();
    while (heard.type !== "chats") heard = await events.next();
    expect(heard.events).toMatchObject([{ about: "changes", page: "p", changed: [{ id: "c" }] }]);
  });
});
