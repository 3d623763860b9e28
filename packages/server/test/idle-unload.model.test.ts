import { until } from "@ingle/fixtures";
import { describe, expect, it } from "vitest";
import { realServer, user } from "./real-server.ts";

describe("--idle-unload with a real model", () => {
  it("unloads the model, and the next requests load it again and return the same text", async () => {
    await using server = await realServer({ load: { contextLength: 256 }, flags: { idleUnload: "1s" } });
    const ask = async (): Promise<unknown> => {
      const reply = await server.post({ messages: user("Tell me."), temperature: 0, max_tokens: 12 });
      expect(reply.status).toBe(200);
      const { choices } = (await reply.json()) as { choices: unknown[] };
      return choices;
    };
    const before = await ask();
    await until(() => server.model.disposed);
    const listed = await (await fetch(`${server.baseUrl}/models`)).json();
    expect(listed).toMatchObject({ data: [{ status: "available" }] });
    expect(await Promise.all([ask(), ask(), ask()])).toEqual([before, before, before]);
    expect(server.model.disposed).toBe(true); // the model was loaded again, so this object is the old one
  });
});
