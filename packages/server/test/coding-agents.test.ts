// The requests of coding agents, with a scripted model: what the model gets, and what is named as ignored.
import { describe, expect, it } from "vitest";
import { scriptedApp, scriptedId } from "./harness/scripted-server.ts";
import { args, codingAgents } from "./coding-agents.ts";

describe.each(Object.entries(codingAgents))(
  "%s",
  (_name, { path, headers = {}, first, second, tools, ignored, ignoredLater }) => {
    async function send(body: object) {
      await using scripted = await scriptedApp({ script: { pieces: ["Hello"] } });
      const payload = { model: scriptedId, ...body };
      const response = await scripted.app.inject({ method: "POST", url: path, headers, payload });
      const names = response.headers["x-ingle-ignored"];
      return {
        status: response.statusCode,
        body: response.body,
        names,
        chat: scripted.log.chats[0],
      };
    }

    it("gets a reply to its first request, and the names of what was ignored", async () => {
      const { status, body, names, chat } = await send(first);
      expect([status, body.slice(0, 300)]).toEqual([200, expect.stringContaining("data: ")]);
      expect(body).toContain("Hello");
      expect(names).toBe(ignored);
      expect(chat?.tools.map(({ name }) => name)).toEqual(tools);
    });

    it("continues after the results of its tools, from the same beginning", async () => {
      const [one, other] = [await send(first), await send(second)];
      expect([other.status, other.body.slice(0, 300)]).toEqual([200, expect.stringContaining("data: ")]);
      expect(other.chat?.messages.slice(0, one.chat?.messages.length)).toEqual(one.chat?.messages);
      const [assistant, result] = other.chat?.messages.slice(one.chat?.messages.length) ?? [];
      expect(assistant?.toolCalls[0]).toMatchObject({ name: tools[0], arguments: args });
      expect(result).toMatchObject({ role: "tool", content: "a.txt", name: tools[0] });
      expect(other.names).toBe(ignoredLater ?? ignored);
      expect(other.chat?.tools).toEqual(one.chat?.tools);
    });
  },
);

it("Codex's calls of other tools are the model's own calls, in the next turn", async () => {
  await using scripted = await scriptedApp({ script: { pieces: ["Hello"] } });
  const { path: url, second } = codingAgents["Codex"] ?? { path: "", second: {} };
  await scripted.app.inject({ method: "POST", url, payload: { model: scriptedId, ...second } });
  const calls = scripted.log.chats[0]?.messages.flatMap(({ toolCalls }) => toolCalls);
  expect(calls).toMatchObject([
    { name: "exec_command", arguments: args },
    { name: "apply_patch", arguments: '{"input":"*** Begin Patch"}' },
    { name: "mcp__files__read", arguments: "{}" },
  ]);
});
