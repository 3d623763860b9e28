// The registry under random requests: whoever holds a model holds a live one, memory and number are never exceeded, and at
// the end everything is free.
import { EngineError } from "@ingle/engine";
import fc from "fast-check";
import { expect, it } from "vitest";
import { gate, scriptedKnown, type ScriptedKnown } from "../../test/harness/scripted-models.ts";
import { ModelRegistry } from "./registry.ts";
import type { Lease } from "./slot/slot-interface.ts";

const ids = ["a", "b", "c", "pinned"];
const hostBytesMax = 10;

type Command = { do: "load" | "unload" | "openGate" | "closeGate" | "fail" | "mend"; id: string };

type Step =
  | { do: "acquire"; id: string }
  | { do: "release"; nth: number }
  | { do: "leave"; nth: number }
  | Command
  | { do: "turn" };

const id = fc.constantFrom(...ids);
const nth = fc.nat(9);
const anyStep: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant("acquire" as const), id }) },
  { weight: 5, arbitrary: fc.record({ do: fc.constant("release" as const), nth }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("leave" as const), nth }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom("load" as const, "unload" as const), id }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constantFrom("openGate" as const, "closeGate" as const, "fail" as const, "mend" as const),
      id,
    }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constant("turn" as const) }) },
);

/** What runs in the test at one time. */
class RandomRun {
  readonly models = new Map<string, ScriptedKnown>();
  readonly gates = new Map<string, ReturnType<typeof gate>>();
  readonly registry: ModelRegistry;
  readonly held: Lease[] = [];
  readonly waiting: { leaving: AbortController; ended: Promise<void> }[] = [];
  readonly commands: Promise<unknown>[] = [];
  /** What should not have been. */
  readonly wrongs: string[] = [];

  constructor(loadedMax: number) {
    const budget = { byMemory: { host: hostBytesMax } };
    this.registry = new ModelRegistry({
      waitingMax: 6,
      onLoading: "wait",
      budget,
      loadedMax,
      pinned: ["pinned"],
    });
    for (const [index, name] of ids.entries()) {
      const model = scriptedKnown(name, { hostBytes: 3 + index });
      this.models.set(name, model);
      this.registry.add(model);
    }
  }

  async play(step: Step): Promise<void> {
    switch (step.do) {
      case "acquire":
        this.acquire(step.id);
        break;
      case "release":
        this.held.splice(step.nth % Math.max(1, this.held.length), 1)[0]?.[Symbol.dispose]();
        break;
      case "leave":
        this.waiting[step.nth % Math.max(1, this.waiting.length)]?.leaving.abort(new Error("left"));
        break;
      case "turn":
        await new Promise(setImmediate);
        break;
      default:
        this.command(step);
    }
    this.check();
  }

  acquire(name: string): void {
    const leaving = new AbortController();
    const take = async (): Promise<void> => {
      try {
        this.held.push(await this.registry.acquire(name, "desktop", { signal: leaving.signal }));
      } catch (error) {
        if (!/left|broken|places are left|pinned|stopping/.test(String(error)))
          this.wrongs.push(String(error));
      }
    };
    this.waiting.push({ leaving, ended: take() });
  }

  command(step: Command): void {
    const model = this.models.get(step.id);
    if (model === undefined) return;
    if (step.do === "load") this.commands.push(Promise.allSettled([this.registry.load(step.id)]));
    if (step.do === "unload") this.commands.push(Promise.allSettled([this.registry.unload(step.id)]));
    if (step.do === "openGate") this.gates.get(step.id)?.open();
    if (step.do === "closeGate") {
      this.gates.get(step.id)?.open();
      const closed = gate();
      this.gates.set(step.id, closed);
      model.gate = closed.closed;
    }
    if (step.do === "fail") model.refusal = new EngineError("model_invalid", "broken");
    if (step.do === "mend") model.refusal = undefined;
  }

  check(): void {
    const { limits, slots } = this.registry;
    const isFreed = this.held.some(({ model }) => model.disposed);
    if (isFreed) this.wrongs.push("a model was freed while it was held");
    const hostBytes = this.registry.memoryUsed()["host"] ?? 0;
    if (hostBytes > hostBytesMax) this.wrongs.push(`${hostBytes} bytes are used`);
    const inMemory = [...this.models.values()].filter(({ log }) => log.loads > log.frees).length;
    if (inMemory > (limits.loadedMax ?? Infinity)) this.wrongs.push(`${inMemory} models are in memory`);
    for (const slot of slots) {
      const held = this.held.filter((lease) => lease.id === slot.id).length;
      if (slot.leases < held) this.wrongs.push(`${held} leases are held, ${slot.leases} counted`);
    }
  }

  /** Lets everything come to its end, and looks that nothing is left. */
  async end(): Promise<void> {
    for (const each of this.gates.values()) each.open();
    const disposal = this.registry[Symbol.asyncDispose]();
    await Promise.all(this.waiting.map(({ ended }) => ended));
    for (const lease of this.held) lease[Symbol.dispose]();
    await Promise.all([disposal, ...this.commands]);
    for (const { id: name, log } of this.models.values())
      if (log.frees !== log.loads)
        this.wrongs.push(`${name} was loaded ${log.loads} times and freed ${log.frees}`);
  }

  /** With everything mended and nobody in the way, each request is answered: nothing is stuck. */
  async everybodyIsServed(): Promise<void> {
    for (const model of this.models.values()) model.refusal = undefined;
    for (const each of this.gates.values()) each.open();
    for (const model of this.models.values()) model.gate = Promise.resolve();
    for (const { leaving } of this.waiting) leaving.abort(new Error("left"));
    await Promise.all(this.waiting.map(({ ended }) => ended)); // a lease that was granted before is held by now
    for (const lease of this.held.splice(0)) lease[Symbol.dispose]();
    await Promise.all(this.commands);
    await this.registry.unload("pinned");
    for (const name of ids) {
      await this.registry.load(name); // also where it has not cooled down
      (await this.registry.acquire(name, "desktop"))[Symbol.dispose]();
      if (name === "pinned") await this.registry.unload(name);
    }
  }
}

it("never frees what is held, never holds more than it may, and is never stuck", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(anyStep, { maxLength: 60 }),
      fc.integer({ min: 1, max: 3 }),
      async (steps, loadedMax) => {
        const run = new RandomRun(loadedMax);
        for (const step of steps) await run.play(step);
        await run.everybodyIsServed();
        await run.end();
        expect(run.wrongs).toEqual([]);
      },
    ),
    { numRuns: 300 },
  );
});
