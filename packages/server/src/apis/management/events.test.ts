import { describe, expect, it } from "vitest";
import { ModelRegistry } from "../../models/registry.ts";
import { serve } from "../../serve.ts";
import { EventReader } from "../../../test/harness/event-reader.ts";
import { scriptedKnown } from "../../../test/harness/scripted-models.ts";
import { testConfig } from "../../../test/harness/scripted-server.ts";

async function running() {
  const installed = [scriptedKnown("a")];
  const source = { known: async () => installed };
  const registry = new ModelRegistry({ waitingMax: 9, onLoading: "wait", source });
  return { installed, server: await serve(testConfig(), { logger: false, registry }) };
}

describe("GET /api/v1/events", () => {
  it("sends the whole state at once, and again when it changes", async () => {
    const { installed, server } = await running();
    await using _closing = { [Symbol.asyncDispose]: () => server.close({ deadlineMs: 0 }) };
    await using events = new EventReader(server.url);
    expect(await events.next()).toMatchObject({
      type: "state",
      models: [{ id: "a", status: "available" }],
      jobs: [],
      server: { status: "running", can_control: false, url: server.url },
      figures: { cached_share: null },
      requests: [],
      keeps_bodies: false,
    });
    installed.push(scriptedKnown("b"));
    const { models } = await events.until((state) => state.models.length === 2);
    expect(models.map(({ id }) => id)).toEqual(["a", "b"]);
  });

  it("ends when the server closes", async () => {
    const { server } = await running();
    await using events = new EventReader(server.url);
    await events.next();
    const closing = server.close({ deadlineMs: 5_000 });
    // A client whose stream was cut would get a connection error instead.
    await expect(events.until(() => false)).rejects.toThrow("The events have ended.");
    await expect(closing).resolves.toBeUndefined();
  });
});
