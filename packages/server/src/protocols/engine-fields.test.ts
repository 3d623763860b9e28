// Fields that the protocol and the engine both check, neither of which may import the other: they allow the same.
import { AdapterUses } from "@ingle/engine/adapter-options";
import { lettersOf, samplers, SamplerName, usualSamplers } from "@ingle/engine/samplers";
import { ChatCompletionRequest } from "@ingle/protocol";
import { describe, expect, it } from "vitest";
import { z } from "zod";

interface Schema {
  $defs?: Record<string, Schema>;
  properties?: Record<string, Schema>;
}

const shown = (schema: z.ZodType): Schema => z.toJSONSchema(schema, { io: "input" }) as Schema;
const fields = shown(ChatCompletionRequest).$defs?.["ChatCompletionRequest"]?.properties ?? {};

/** The bounds that a schema names, however deep. */
function boundsOf(schema: Schema | undefined): string[] {
  const bounds: string[] = [];
  JSON.stringify(schema, (key, value: unknown) => {
    if (["minimum", "maximum", "maxItems", "minLength", "maxLength", "pattern"].includes(key))
      bounds.push(`${key} ${JSON.stringify(value)}`);
    return value;
  });
  return bounds.toSorted();
}

function parsed(body: object): ChatCompletionRequest {
  return ChatCompletionRequest.parse({ messages: [{ role: "user", content: "Hi" }], ...body });
}

/** What the refusal of these samplers says. */
function ruleFor(refused: unknown): string {
  return ChatCompletionRequest.safeParse({ messages: [], samplers: refused }).error?.message ?? "";
}

describe("samplers", () => {
  it("have the same names, in the same order", () => {
    expect(parsed({ samplers: usualSamplers }).samplers).toEqual(usualSamplers);
    const message =
      ChatCompletionRequest.safeParse({ messages: [], samplers: ["none"] }).error?.message ?? "";
    expect(message).toContain(SamplerName.options.join(", "));
  });

  it("have the same letters", () => {
    const letters = lettersOf(usualSamplers);
    expect(parsed({ samplers: letters }).samplers).toEqual(usualSamplers);
    for (const name of usualSamplers)
      expect(parsed({ samplers: lettersOf([name]) }).samplers).toEqual([name]);
    expect(ruleFor("?")).toContain(`a string of the letters ${letters}`);
  });

  // -1 stands for the largest window on the wire only.
  const others = Object.keys(samplers).filter((name) => !["samplers", "dryPenaltyLastN"].includes(name));
  it.each(others)("%s has the same bounds", (name) => {
    const field = fields[name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)];
    const { [name]: own } = shown(z.object(samplers)).properties ?? {};
    expect(boundsOf(own).length).toBeGreaterThan(0);
    expect(boundsOf(field)).toEqual(boundsOf(own));
  });
});

it("adapters have the same names, places, scales and number", () => {
  expect(boundsOf(shown(AdapterUses)).length).toBeGreaterThan(4);
  expect(boundsOf(fields["lora"])).toEqual(boundsOf(shown(AdapterUses)));
});
