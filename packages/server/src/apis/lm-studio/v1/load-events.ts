// The first events of a streamed chat in LM Studio's API v1: the load of its model, while the request waits for it.
import { setTimeout as sleep } from "node:timers/promises";
import type { LmStudioChatEvent } from "@ingle/protocol";
import type { ModelRegistry } from "../../../models/registry.ts";
import { isInMemory, loadProgress } from "../../../models/slot/model-state.ts";

/** The interval at which the load's progress is read, in milliseconds. */
const lookEveryMs = 100;

/**
 * Yields nothing for a model in memory. Ends when `started` settles: when the request has its model or an error. Never throws.
 */
export async function* loadEvents(
  registry: ModelRegistry,
  model: string | undefined,
  started: Promise<unknown>,
): AsyncGenerator<LmStudioChatEvent, void, undefined> {
  const slot = model === undefined ? undefined : await registry.find(model);
  if (slot === undefined || isInMemory(slot.state)) return;
  const { id: model_instance_id } = slot;
  let isOver = false;
  const over = settled(started).then(() => (isOver = true));
  let begunAt: number | undefined;
  let shown = 0;
  for (;;) {
    await Promise.race([over, sleep(lookEveryMs)]);
    if (isOver) break;
    const { state } = slot;
    if (state.kind !== "preparing" && state.kind !== "loading") continue;
    if (begunAt === undefined) {
      begunAt = performance.now();
      yield { type: "chat.start", model_instance_id };
      yield { type: "model_load.start", model_instance_id };
    }
    const progress = loadProgress(state);
    if (progress > shown) yield { type: "model_load.progress", model_instance_id, progress };
    shown = Math.max(shown, progress);
  }
  if (begunAt === undefined || !isInMemory(slot.state)) return;
  yield {
    type: "model_load.end",
    model_instance_id,
    load_time_seconds: (performance.now() - begunAt) / 1000,
  };
}

async function settled(work: Promise<unknown>): Promise<void> {
  await Promise.allSettled([work]);
}
