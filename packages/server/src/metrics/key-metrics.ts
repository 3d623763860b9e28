// What each key has used, by its name. A file may have more keys than a collector wants labels.
import type { Registry } from "prom-client";
import type { KeyMeters } from "../access/key-usage.ts";
import { addCollected } from "./collected.ts";

/** Keys with labels of their own: the first so many that were used. The others share one. */
const labelsMax = 100;
const others = "(others)";

const totals = [
  ["requests", "ingle_key_requests_total", "Requests that a key was admitted with."],
  ["prompt_tokens", "ingle_key_prompt_tokens_total", "Tokens of the prompts of a key, cached ones included."],
  ["completion_tokens", "ingle_key_completion_tokens_total", "Tokens that were generated for a key."],
] as const;

export function addKeyMetrics(register: Registry, meters: KeyMeters): void {
  for (const [field, name, help] of totals)
    addCollected(register, {
      kind: "counter",
      name,
      help,
      labelNames: ["key"],
      values: () =>
        [...meters.all].map(([key, { usage }], index) => [
          { key: index < labelsMax ? key : others },
          usage[field],
        ]),
    });
}
