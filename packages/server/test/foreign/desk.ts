// What the tests with third-party clients share: one question, one tool and one schema, whose replies are finite even with random
// weights.
import { chatTemplate, realServer, type RealServer } from "../real-server.ts";

export const question = "What is the weather in Rome?";
export const cities = ["Rome", "Oslo"] as const;
/** The parameters of the one tool. */
export const weatherParameters = {
  type: "object" as const,
  properties: { city: { type: "string" as const, enum: [...cities] } },
  required: ["city"],
  additionalProperties: false as const,
};
export const weatherText = "Sunny, 21 degrees";

/** With ChatML's template, or another one that llama.cpp includes. */
export async function foreignServer(
  template?: string,
  options: Pick<NonNullable<Parameters<typeof realServer>[0]>, "flags"> = {},
): Promise<RealServer> {
  const own = template === undefined ? {} : { chatTemplate: await chatTemplate(template) };
  return realServer({
    fixture: { vocabulary: "qwen2", ...own },
    load: { contextLength: 2048, parallel: 4 },
    ...options,
  });
}
