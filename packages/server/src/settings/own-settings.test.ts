import { expect, it } from "vitest";
import { withNames } from "./own-settings.ts";
import { longFlag } from "./setting.ts";

it.each([
  [
    'devices: there is no device "a" that can hold layers.',
    '--device: there is no device "a" that can hold layers.',
  ],
  ["kvOffload: the KV cache is not on a GPU.", "--no-kv-offload: the KV cache is not on a GPU."],
  [
    "ubatchTokens: must be at most batchTokens, which is 32.",
    "--ubatch-size: must be at most --batch-size, which is 32.",
  ],
  ["cpuStrict: it needs cpuMask or cpuRange.", "--cpu-strict: it needs --cpu-mask or --cpu-range."],
  // Words, and names that are no options, stay.
  ["numa: all threads and devices of topP.", "--numa: all threads and devices of topP."],
])("a message about options names their flags: %s", (message, named) => {
  expect(withNames(message, ({ setting }) => longFlag(setting))).toBe(named);
});
