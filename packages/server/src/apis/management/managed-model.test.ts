import { EngineError } from "@ingle/engine";
import { afterEach, expect, it, vi } from "vitest";
import { scriptedKnown } from "../../../test/harness/scripted-models.ts";
import { ModelRegistry } from "../../models/registry.ts";
import { coolDownMs } from "../../models/slot/loading.ts";
import { toManagedModel } from "./managed-model.ts";

afterEach(() => {
  vi.useRealTimers();
});

it("tells why a load failed until the next one, not only while no request tries again", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const broken = scriptedKnown("broken");
  broken.refusal = new EngineError("model_invalid", "The file is no GGUF.");
  const registry = new ModelRegistry({ waitingMax: 1, now: () => new Date(5_000), onLoading: "wait" });
  registry.add(broken);
  const shown = () => registry.slots.map(toManagedModel);
  const reason = { error: "The file is no GGUF.", error_code: "engine_failed" };

  await expect(registry.acquire("broken", "desktop")).rejects.toThrow(reason.error);
  expect(shown()).toMatchObject([{ status: "failed", ...reason }]);
  await vi.advanceTimersByTimeAsync(coolDownMs);
  expect(shown()).toMatchObject([{ status: "failed", ...reason }]);

  broken.refusal = undefined;
  using lease = await registry.acquire("broken", "desktop");
  expect(lease.id).toBe("broken");
  expect(shown()).toMatchObject([{ status: "loaded", error: null, error_code: null }]);
});
