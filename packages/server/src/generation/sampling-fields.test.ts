// Every row of the table of generation options reaches the native engine from a request's field.
import {
  generationOptions,
  isNumber,
  optionNames,
  samplerNames,
  toLetters,
  type NumberOption,
  type OptionName,
} from "@ingle/generation-options";
import { OllamaOptions } from "@ingle/protocol";
import fc from "fast-check";
import { expect, it } from "vitest";
import { scriptedApp, scriptedId } from "../../test/harness/scripted-server.ts";
import { samplingReader, toFields, toSampling } from "./sampling-fields.ts";

type Scripted = Awaited<ReturnType<typeof scriptedApp>>;

/** What a chat completion with these fields asks of the native engine. */
async function asked({ app, log }: Scripted, fields: object) {
  const payload = { model: scriptedId, messages: [{ role: "user", content: "Hi" }], ...fields };
  const { statusCode, body } = await app.inject({ method: "POST", url: "/v1/chat/completions", payload });
  expect([statusCode, statusCode === 200 ? "" : body]).toEqual([200, ""]);
  return log.requests.at(-1)!;
}

/** Values of the field of a number that are not its default. */
function fieldValues({ kind, above, min, max = 100, fieldMin, default: usual }: NumberOption) {
  const bounds = { min: fieldMin ?? min ?? above ?? 0, max: Math.min(max, 4096) };
  const values = kind === "number" ? fc.double({ ...bounds, noNaN: true }) : fc.integer(bounds);
  // 0 has a meaning of its own in top_p, and -1 in counts.
  return values.filter((value) => value !== usual && value > Math.max(0, above ?? 0));
}

/** Two that exclude each other: one is left out. */
const numbers = optionNames.filter((name) => isNumber(name) && name !== "mirostat");
const values = Object.fromEntries(
  numbers.map((name) => [name, fieldValues(generationOptions[name] as NumberOption)]),
);

it("every number, by its field, is a number of the native engine by the option's name", async () => {
  await using scripted = await scriptedApp();
  await fc.assert(
    fc.asyncProperty(fc.record(values, { requiredKeys: [] }), async (options) => {
      expect((await asked(scripted, toFields(options))).sampling).toMatchObject(options);
    }),
    { numRuns: 40 },
  );
});

it.each<[OptionName, unknown, unknown]>([
  ["mirostat", 2, 2],
  ["topP", 1, 1],
  ["topK", -1, 0],
  ["dryPenaltyLastN", -1, generationOptions.dryPenaltyLastN.max],
  ["drySequenceBreakers", ["a", "b"], ["a", "b"]],
  ["samplers", ["temperature", "top_k"], "tk"],
  ["samplers", [], ""],
  ["samplers", samplerNames, toLetters(samplerNames)],
  ["seed", 7, 7],
  ["logitBias", { 5: -100, 6: 2 }, Float64Array.of(5, -Infinity, 6, 2)],
  ["logitBias", [[5, false]], Float64Array.of(5, -Infinity)],
])("%s %j is %j of the native engine", async (name, value, native) => {
  await using scripted = await scriptedApp();
  const { sampling } = await asked(scripted, { [generationOptions[name].field]: value });
  expect(sampling).toHaveProperty(name, native);
});

it("limits and stop strings are the request's own", async () => {
  await using scripted = await scriptedApp();
  const fields = toFields({ maxTokens: 3, stop: ["", "END"] });
  expect(await asked(scripted, fields)).toMatchObject({ maxTokens: 3, stops: ["END"] });
  expect(await asked(scripted, { ...fields, max_completion_tokens: 2 })).toMatchObject({ maxTokens: 2 });
});

it("every option is covered above", () => {
  const named = new Set<OptionName>([
    ...numbers,
    "mirostat",
    "drySequenceBreakers",
    "samplers",
    "seed",
    "logitBias",
  ]);
  expect(optionNames.filter((name) => !named.has(name))).toEqual(["maxTokens", "stop"]);
});

it("top_p 0 takes only the likeliest token", () => {
  expect(toSampling({ top_p: 0, temperature: 2 })).toEqual({ topP: 1, temperature: 0 });
});

it("absent fields stay absent, and fields that an API's schema lacks are not read", () => {
  expect(toSampling({ model: "tiny", temperature: undefined })).toEqual({});
  const readOptions = samplingReader(OllamaOptions);
  expect(readOptions({ top_k: 5, xtc_threshold: "unchecked", num_ctx: 10 })).toEqual({ topK: 5 });
});
