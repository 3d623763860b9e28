// Fields that the protocol and the engine both check, neither of which may import the other: they allow the same.
import { AdapterUses } from "@ingle/engine/adapter-options";
import { ChatCompletionRequest } from "@ingle/protocol";
import { expect, it } from "vitest";
import { z } from "zod";

interface Schema {
  $defs?: Record<string, Schema>;
  properties?: Record<string, Schema>;
}

const shown = (schema: z.ZodType): Schema => z.toJSONSchema(schema, { io: "input" }) as Schema;
const fields = shown(ChatCompletionRequest).$defs?.["ChatCompletionRequest"]?.properties ?? {};

/** The bounds that a schema names, however deep. */
function bounds(schema: Schema | undefined): string[] {
  const found: string[] = [];
  JSON.stringify(schema, (key, value: unknown) => {
    if (["minimum", "maximum", "maxItems", "minLength", "maxLength", "pattern"].includes(key))
      found.push(`${key} ${JSON.stringify(value)}`);
    return value;
  });
  return found.toSorted();
}

it("adapters have the same names, places, scales and number", () => {
  expect(bounds(shown(AdapterUses)).length).toBeGreaterThan(4);
  expect(bounds(fields["lora"])).toEqual(bounds(shown(AdapterUses)));
});
