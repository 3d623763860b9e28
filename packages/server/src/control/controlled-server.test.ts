import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import type { ServerStatus } from "@ingle/protocol";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { KeyRing } from "../access/keys.ts";
import { ConfigError } from "../config.ts";
import { scriptedControl, type ScriptedControl } from "../../test/harness/scripted-control.ts";
import { ControlledServer } from "./controlled-server.ts";
import { KeptKeys } from "./kept-keys.ts";
import { moved, type OpenListener, type ServerState } from "./server-state.ts";

/** Listeners that were opened, and whether each was closed. */
function scriptedListeners() {
  const opened: { port: number; isClosed: boolean; deadlines: unknown[] }[] = [];
  const open = (port: number, close: () => Promise<void> = async () => {}): OpenListener => {
    const one = { port, isClosed: false, deadlines: [] as unknown[] };
    opened.push(one);
    return {
      url: `http://127.0.0.1:${port}`,
      port,
      openRequests: () => 3,
      close: async (options) => {
        one.deadlines.push(options?.deadlineMs);
        await close();
        one.isClosed = true;
      },
    };
  };
  return { opened, open };
}

/** Work that ends when the test says so, or when its signal aborts. */
function held() {
  let finish: (error?: Error) => void = () => {};
  const work = (signal?: AbortSignal): Promise<void> =>
    new Promise((resolve, reject) => {
      finish = (error) => (error === undefined ? resolve() : reject(error));
      signal?.addEventListener("abort", () => reject(signal.reason as Error));
    });
  return { work, finish: (error?: Error) => finish(error) };
}

const status = ({ server }: ScriptedControl): ServerStatus => server.view().status;

describe("starting", () => {
  it("loads the models, then listens, and returns the address", async () => {
    const { open } = scriptedListeners();
    const loading = held();
    const listening = held();
    const loaded: unknown[] = [];
    await using scripted = await scriptedControl(
      {
        loadModels: async ({ models }, signal) => {
          await loading.work(signal);
          loaded.push(...models);
        },
        listen: async ({ port }) => {
          await listening.work();
          return open(port);
        },
      },
      { models: ["a", "b"] },
    );
    expect(scripted.server.view()).toMatchObject({
      status: "stopped",
      url: null,
      open_requests: 0,
      can_control: true,
    });
    const started = scripted.server.start();
    await expect.poll(() => status(scripted)).toBe("loading");
    loading.finish();
    await expect.poll(() => status(scripted)).toBe("starting");
    listening.finish();
    await started;
    expect(loaded).toEqual(["a", "b"]);
    expect(scripted.server.view()).toMatchObject({
      status: "running",
      url: "http://127.0.0.1:1337",
      moved_from_port: null,
      needs_key: false,
      open_requests: 3,
      error: null,
      settings: { models: ["a", "b"] },
    });
  });

  it("reports a port other than the requested one", async () => {
    const { open } = scriptedListeners();
    await using scripted = await scriptedControl({ listen: async ({ port }) => open(port + 1) });
    await scripted.server.start();
    expect(scripted.server.view()).toMatchObject({ url: "http://127.0.0.1:1338", moved_from_port: 1337 });
  });

  it("runs once when it is requested twice", async () => {
    const { opened, open } = scriptedListeners();
    await using scripted = await scriptedControl({ listen: async ({ port }) => open(port) });
    await Promise.all([scripted.server.start(), scripted.server.start()]);
    await scripted.server.start();
    expect([opened.length, status(scripted)]).toEqual([1, "running"]);
  });

  it("fails with the reason if a model cannot be loaded, and can be retried", async () => {
    const { opened, open } = scriptedListeners();
    const failure = new ConfigError("x", "The model a could not be loaded: it is broken.");
    let isBroken = true;
    await using scripted = await scriptedControl({
      loadModels: async () => {
        if (isBroken) throw failure;
      },
      listen: async ({ port }) => open(port),
    });
    await scripted.server.start();
    expect(scripted.server.view()).toMatchObject({
      status: "failed",
      error: failure.message,
      error_code: "invalid_request",
      url: null,
    });
    expect([scripted.failures, opened.length]).toEqual([[failure], 0]);
    isBroken = false;
    await scripted.server.start();
    expect(scripted.server.view()).toMatchObject({ status: "running", error: null });
  });

  it("shows unexpected errors only in the log", async () => {
    const failure = new Error("secret details");
    await using scripted = await scriptedControl({
      listen: async () => {
        throw failure;
      },
    });
    await scripted.server.start();
    expect(scripted.server.view().error).toBe("The server could not be started; the log has the reason.");
    expect(scripted.failures).toEqual([failure]);
  });

  it.each(["0.0.0.0", "192.0.2.7", "::", "models.example"])(
    "on %s requires a key, and the error says what to do",
    async (host) => {
      const { opened, open } = scriptedListeners();
      await using scripted = await scriptedControl({ listen: async ({ port }) => open(port) }, { host });
      await scripted.server.start();
      expect(scripted.server.view()).toMatchObject({
        status: "failed",
        error: `Other machines can reach the server on ${host}, but it has no key. Create one, or choose the host 127.0.0.1.`,
      });
      expect(opened).toEqual([]);
      await scripted.keys.create({ name: "a", scope: "inference" });
      await scripted.server.start();
      expect(scripted.server.view()).toMatchObject({ status: "running", needs_key: true });
    },
  );

  it("with an unreadable key file does not listen, even on loopback", async () => {
    await using scripted = await scriptedControl();
    const file = path.join(scripted.folder, "keys.json");
    await writeFile(file, "{");
    const keys = await KeptKeys.open(file);
    const { opened, open } = scriptedListeners();
    const server = new ControlledServer({
      settings: scripted.settings,
      keys,
      loadModels: async () => {},
      listen: async ({ port }) => open(port),
      onFailure: () => {},
    });
    await server.start();
    expect(server.view().error).toMatch(/keys\.json cannot be used.* Create the server's keys again\.$/);
    expect(opened).toEqual([]);
    await keys.create({ name: "a", scope: "inference" });
    await server.start();
    expect(server.view()).toMatchObject({ status: "running", needs_key: true });
    await server.stop();
  });
});

describe("stopping", () => {
  it("waits for the listener until its deadline, and refuses a start meanwhile", async () => {
    const { opened, open } = scriptedListeners();
    const closing = held();
    await using scripted = await scriptedControl({
      listen: async ({ port }) => open(port, () => closing.work()),
    });
    await scripted.server.start();
    const stopped = scripted.server.stop();
    const again = scripted.server.stop();
    expect(scripted.server.view()).toMatchObject({
      status: "stopping",
      url: "http://127.0.0.1:1337",
      open_requests: 3,
    });
    await expect(scripted.server.start()).rejects.toMatchObject({ code: "invalid_request" });
    await expect.poll(() => opened[0]?.deadlines).toEqual([undefined]);
    closing.finish();
    await Promise.all([stopped, again]);
    expect([status(scripted), opened.map(({ isClosed }) => isClosed)]).toEqual(["stopped", [true]]);
    await scripted.server.stop();
    expect(opened[0]?.deadlines).toHaveLength(1);
  });

  it("during loading cancels the load, and nothing listens", async () => {
    const { opened, open } = scriptedListeners();
    const loading = held();
    await using scripted = await scriptedControl({
      loadModels: (_settings, signal) => loading.work(signal),
      listen: async ({ port }) => open(port),
    });
    const started = scripted.server.start();
    await expect.poll(() => status(scripted)).toBe("loading");
    await scripted.server.stop();
    await started;
    expect([status(scripted), opened, scripted.failures]).toEqual(["stopped", [], []]);
  });

  it("while the listener is being opened closes it", async () => {
    const { opened, open } = scriptedListeners();
    const listening = held();
    await using scripted = await scriptedControl({
      listen: async ({ port }) => {
        await listening.work();
        return open(port);
      },
    });
    const started = scripted.server.start();
    await expect.poll(() => status(scripted)).toBe("starting");
    const stopped = scripted.server.stop();
    listening.finish();
    await Promise.all([started, stopped]);
    expect([status(scripted), opened]).toEqual(["stopped", [{ port: 1337, isClosed: true, deadlines: [0] }]]);
  });

  it("logs a failure, and the server can be started again", async () => {
    const { open } = scriptedListeners();
    const failure = new Error("will not close");
    await using scripted = await scriptedControl({
      listen: async ({ port }) => open(port, () => Promise.reject(failure)),
    });
    await scripted.server.start();
    await scripted.server.stop();
    expect([status(scripted), scripted.failures]).toEqual(["stopped", [failure]]);
    await scripted.server.start();
    expect(status(scripted)).toBe("running");
  });

  it("clears a failure", async () => {
    await using scripted = await scriptedControl();
    await scripted.server.start();
    expect(status(scripted)).toBe("failed");
    await scripted.server.stop();
    expect(scripted.server.view()).toMatchObject({ status: "stopped", error: null });
  });
});

describe("settings", () => {
  it("are saved, and those that only the next start reads can be changed while it runs", async () => {
    const { open } = scriptedListeners();
    await using scripted = await scriptedControl({ listen: async ({ port }) => open(port) });
    await scripted.server.start();
    await scripted.server.change({ models: ["a"], starts_with_app: true });
    await expect(scripted.server.change({ models: [], port: 9000 })).rejects.toMatchObject({
      code: "invalid_request",
      message: expect.stringContaining("Stop the server before"),
    });
    const kept = JSON.parse(await readFile(path.join(scripted.folder, "server.json"), "utf8"));
    expect(kept.settings).toMatchObject({ models: ["a"], starts_with_app: true, port: 1337 });
    await scripted.server.stop();
    await scripted.server.change({ port: 9000 });
    expect(scripted.server.view().settings.port).toBe(9000);
  });

  it("clear a failure when they change, because they may fix its cause", async () => {
    await using scripted = await scriptedControl();
    await scripted.server.start();
    await scripted.server.change({ port: 9000 });
    expect(scripted.server.view()).toMatchObject({ status: "stopped", error: null });
  });

  it("take effect if they change just before a start, and are refused just after it", async () => {
    const ports: number[] = [];
    const { open } = scriptedListeners();
    await using scripted = await scriptedControl({
      listen: async ({ port }) => {
        ports.push(port);
        return open(port);
      },
    });
    const before = scripted.server.change({ port: 9000 });
    const late = scripted.server.change({ port: 9001 });
    const started = scripted.server.start();
    const after = scripted.server.change({ port: 9002 });
    const outcomes = await Promise.allSettled([before, late, after]);
    await started;
    const { port } = scripted.server.view().settings;
    expect(ports).toEqual([port]);
    expect(outcomes.map((each) => each.status).at(-1)).toBe("rejected");
  });
});

/** Everything that may happen to a server, at any time and in any order. */
type Doing = "start" | "stop" | "change" | "load" | "fail load" | "listen" | "taken" | "closed";
const doings: Doing[] = ["start", "stop", "change", "load", "fail load", "listen", "taken", "closed"];

describe("any sequence of events", () => {
  it("leaves at most one listener open, none when stopped or failed, and the server can be started and stopped again", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.constantFrom(...doings), { maxLength: 30 }), async (steps) => {
        const { opened, open } = scriptedListeners();
        const waits = { loads: [held()], listens: [held()], closes: [held()] };
        const wait = (of: keyof typeof waits, signal?: AbortSignal): Promise<void> => {
          const one = held();
          waits[of].push(one);
          return one.work(signal);
        };
        let isFree = false;
        const through = async (of: keyof typeof waits, signal?: AbortSignal): Promise<void> => {
          if (!isFree) await wait(of, signal);
        };
        await using scripted = await scriptedControl({
          loadModels: (_settings, signal) => through("loads", signal),
          listen: async ({ port }) => {
            await through("listens");
            return open(port, () => through("closes"));
          },
        });
        const results: Promise<unknown>[] = [];
        const note = (result: Promise<unknown>): unknown => results.push(result.catch(() => {})); // may be refused in the current state
        const doIt: Record<Doing, () => unknown> = {
          start: () => note(scripted.server.start()),
          stop: () => note(scripted.server.stop()),
          change: () => note(scripted.server.change({ port: 9000 })),
          load: () => waits.loads.at(-1)?.finish(),
          "fail load": () => waits.loads.at(-1)?.finish(new Error("broken")),
          listen: () => waits.listens.at(-1)?.finish(),
          taken: () => waits.listens.at(-1)?.finish(new ConfigError("--port", "taken")),
          closed: () => waits.closes.at(-1)?.finish(),
        };
        const expectSane = (): void => {
          const count = opened.filter(({ isClosed }) => !isClosed).length;
          const now = status(scripted);
          const most = now === "running" || now === "stopping" ? 1 : 0;
          expect([now, count <= most || now === "starting"]).toEqual([now, true]);
          if (now === "running") expect(count).toBe(1);
        };
        for (const step of steps) {
          doIt[step]();
          await new Promise((resolve) => setImmediate(resolve));
          expectSane();
        }
        isFree = true;
        for (const of of [waits.loads, waits.listens, waits.closes]) for (const one of of) one.finish();
        await scripted.server.stop();
        await Promise.allSettled(results);
        expect(status(scripted)).toBe("stopped");
        expect(opened.every(({ isClosed }) => isClosed)).toBe(true);
        await scripted.server.start();
        expect(status(scripted)).toBe("running");
        for (const one of waits.closes) one.finish();
      }),
      { numRuns: 60 },
    );
  });

  it("has only transitions that the diagram shows", () => {
    const running = { listener: scriptedListeners().open(1), keys: new KeyRing(), movedFromPort: null };
    const states: ServerState[] = [
      { kind: "stopped" },
      { kind: "loading" },
      { kind: "starting" },
      { kind: "running", running },
      { kind: "stopping" },
      { kind: "failed", error: "x", code: "internal" },
    ];
    const possible = states.flatMap((from) =>
      states.flatMap((to) => {
        try {
          return moved(from, to) === to ? [`${from.kind} ${to.kind}`] : [];
        } catch {
          return [];
        }
      }),
    );
    expect(possible).toEqual([
      "stopped loading",
      "loading starting",
      "loading stopping",
      "loading failed",
      "starting running",
      "starting stopping",
      "starting failed",
      "running stopping",
      "stopping stopped",
      "failed stopped",
      "failed loading",
    ]);
  });
});
