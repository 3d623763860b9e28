// The generation options in requests: converts an API's fields to the engine's options, and the reverse, by the table of options.
import {
  generationOptions,
  optionNames,
  type GenerationOption,
  type OptionName,
  type OptionTable,
  type OptionValues,
} from "@ingle/generation-options";

/** How one field is read. */
interface Reading {
  readonly field: string;
  readonly name: OptionName;
  readonly convert: (value: unknown) => unknown;
}

/**
 * Reads the options that a checked body has, of those that the API's schema names: all by default. Absent fields stay absent: their
 * defaults are those of sampling-defaults.ts and of the engine.
 */
export function samplingReader(schema?: { shape: object }): (body: object) => Partial<OptionValues> {
  const readings = optionNames
    .flatMap((name) => fieldReadings(name, generationOptions[name]))
    .filter(({ field }) => schema === undefined || Object.hasOwn(schema.shape, field));
  return (body) => {
    const options: Record<string, unknown> = {};
    for (const { field, name, convert } of readings) {
      const value: unknown = Reflect.get(body, field);
      if (value !== undefined) options[name] = convert(value);
    }
    // Only the likeliest token is left: greedy sampling.
    return options["topP"] === 0 ? { ...options, temperature: 0, topP: 1 } : options;
  };
}

/** Reads every option. */
export const toSampling = samplingReader();

/** Of two names of a field, the alias takes precedence. */
function fieldReadings(name: OptionName, option: GenerationOption): Reading[] {
  const fields = option.alias === undefined ? [option.field] : [option.field, option.alias];
  return fields.map((field) => ({ field, name, convert: converter(option) }));
}

function converter(option: GenerationOption): (value: unknown) => unknown {
  switch (option.kind) {
    case "number":
    case "integer":
      return option.isWindow === true ? (value) => (value === -1 ? option.max : value) : unchanged;
    case "seed":
      return toSeed;
    case "stops":
      return toStops;
    default:
      return unchanged;
  }
}

function unchanged(value: unknown): unknown {
  return value;
}

/** JSON may contain larger integers than the engine accepts: they always wrap around to the same seed. */
function toSeed(seed: unknown): unknown {
  return typeof seed === "number" && !Number.isSafeInteger(seed) ? seed % Number.MAX_SAFE_INTEGER : seed;
}

/** An empty stop string stops nothing. */
export function toStops(stop: unknown): string[] {
  return [stop].flat().filter((text): text is string => typeof text === "string" && text !== "");
}

type Fields<Values> = {
  [Name in keyof Values & OptionName as OptionTable[Name]["field"]]: Values[Name];
};

/** Options as the fields of a request. Absent ones stay absent. */
export function toFields<Values extends Partial<OptionValues>>(values: Values): Fields<Values> {
  const fields: Record<string, unknown> = {};
  for (const name of optionNames)
    if (values[name] !== undefined) fields[generationOptions[name].field] = values[name];
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the type is computed from the table as the value is
  return fields as Fields<Values>;
}

/** The field of each option, for errors that name an option. */
export const optionFields: Readonly<Record<string, string>> = Object.fromEntries(
  optionNames.map((name) => [name, generationOptions[name].field]),
);
