import { LiveEvent } from "@ingle/protocol";
import { describe, expect, it } from "vitest";
import { ModelRegistry } from "../models/registry.ts";
import { serve } from "../serve.ts";
import { scriptedKnown } from "../testing/scripted-models.ts";
import { testConfig } from "../testing/scripted-server.ts";

async function running() {
  const installed = [scriptedKnown("a")];
  const source = { known: async () => installed };
  const registry = new ModelRegistry({ waitingMax: 9, onLoading: "wait", source });
  return { installed, server: await serve(testConfig(), { logger: false, registry }) };
}

/** The events of a stream as they come. */
async function* eventsOf(url: string, signal: AbortSignal): AsyncGenerator<LiveEvent> {
  const reply = await fetch(`${url}/api/v1/events`, { signal });
  expect(reply.headers.get("content-type")).toContain("text/event-stream");
  let text = "";
  for await (const bytes of reply.body ?? []) {
    text += new TextDecoder().decode(bytes);
    const whole = text.split("\n\n");
    text = whole.pop() ?? "";
    for (const event of whole.filter((line) => line.startsWith("data: ")))
      yield LiveEvent.parse(JSON.parse(event.slice(6)));
  }
}

describe("GET /api/v1/events", () => {
  it("tells the whole state at once, and again when it is another one", async () => {
    const { installed, server } = await running();
    await using _closing = { [Symbol.asyncDispose]: () => server.close({ deadlineMs: 0 }) };
    const leaving = new AbortController();
    const events = eventsOf(server.url, leaving.signal);
    const { value: first } = await events.next();
    expect(first).toMatchObject({
      type: "state",
      models: [{ id: "a", status: "available" }],
      jobs: [],
      server: { status: "running", can_control: false, url: server.url },
      requests: [],
      keeps_bodies: false,
    });
    installed.push(scriptedKnown("b"));
    for await (const event of events) {
      if (event.type === "state" && event.models.length === 2) break;
    }
    leaving.abort();
  });

  it("ends when the server closes", async () => {
    const { server } = await running();
    const events = eventsOf(server.url, new AbortController().signal);
    await events.next();
    const closing = server.close({ deadlineMs: 5_000 });
    let last: LiveEvent | undefined;
    for await (const event of events) last = event;
    // A client whose stream was cut would have got an error instead of an end.
    expect(last === undefined || last.type === "state").toBe(true);
    await expect(closing).resolves.toBeUndefined();
  });
});
