// ajv, an implementation of JSON Schema that has nothing in common with ours, as the judge of what matches a schema.
import { Ajv, type Options, type ValidateFunction } from "ajv";
import { Ajv2019 } from "ajv/dist/2019.js";
import { Ajv2020 } from "ajv/dist/2020.js";
import ajvDraft04 from "ajv-draft-04";
import addFormats, { type FormatName } from "ajv-formats";

export type Draft = "draft4" | "draft7" | "draft2019-09" | "draft2020-12";

export interface Validator {
  draft: Draft;
  /** What is wrong with the value; undefined if it is valid. */
  findProblem: (value: unknown) => string | undefined;
}

/** The formats that JSON Schema defines. Others restrict nothing: ajv-formats has some of OpenAPI's. */
const formats: FormatName[] = [
  "date",
  "time",
  "date-time",
  "duration",
  "email",
  "hostname",
  "ipv4",
  "ipv6",
  "json-pointer",
  "regex",
  "relative-json-pointer",
  "uri",
  "uri-reference",
  "uri-template",
  "uuid",
];

/**
 * Schemas of the wild have unknown keywords and, as patterns, regular expressions that are none of Unicode's. An object has only
 * the properties of its own: `constructor` is none of `{}`.
 */
const options: Options = { strict: false, logger: false, validateSchema: false, ownProperties: true };

const makers: Record<Draft, (more: Options) => Ajv> = {
  draft4: (more) => new ajvDraft04.default({ ...options, ...more }),
  draft7: (more) => new Ajv({ ...options, ...more }),
  "draft2019-09": (more) => new Ajv2019({ ...options, ...more }),
  "draft2020-12": (more) => new Ajv2020({ ...options, ...more }),
};
const made = new Map<string, Ajv>();

function createAjv(draft: Draft, unicodeRegExp: boolean): Ajv {
  const key = `${draft}${unicodeRegExp}`;
  const known = made.get(key);
  if (known !== undefined) return known;
  const ajv = makers[draft]({ unicodeRegExp });
  addFormats.default(ajv, formats);
  // After draft 4, it is an unknown keyword like others.
  if (draft !== "draft4") ajv.removeKeyword("id");
  made.set(key, ajv);
  return ajv;
}

/** The drafts that a schema may be of, likeliest first. */
function possibleDrafts(schema: Readonly<Record<string, unknown>>): Draft[] {
  const named = typeof schema["$schema"] === "string" ? schema["$schema"] : "";
  if (/draft-0?[34]/.test(named)) return ["draft4"];
  if (/draft-0?[67]/.test(named)) return ["draft7", "draft4"];
  if (named.includes("2019-09")) return ["draft2019-09"];
  return named.includes("2020-12") ? ["draft2020-12"] : ["draft2020-12", "draft7", "draft4"];
}

/** Or why ajv can make nothing of the schema in any of the drafts. */
export function createValidator(
  schema: Readonly<Record<string, unknown>>,
  drafts: readonly Draft[] = possibleDrafts(schema),
): Validator | string {
  const { $schema: _dialect, ...rest } = schema;
  const reasons: string[] = [];
  for (const draft of drafts) {
    for (const isUnicode of [true, false]) {
      const validate = compiled(rest, draft, isUnicode);
      if (typeof validate !== "string")
        return { draft, findProblem: (value) => findProblem(validate, value) };
      reasons.push(validate);
    }
  }
  return reasons.at(-1) ?? "";
}

function compiled(schema: object, draft: Draft, isUnicode: boolean): ValidateFunction | string {
  const ajv = createAjv(draft, isUnicode);
  try {
    return ajv.compile(schema);
  } catch (error) {
    // The next draft may know what this one does not.
    return String(error);
  } finally {
    ajv.removeSchema(schema);
  }
}

function findProblem(validate: ValidateFunction, value: unknown): string | undefined {
  if (validate(value)) return undefined;
  const [first] = validate.errors ?? [];
  return `${first?.schemaPath ?? ""} at ${first?.instancePath ?? ""}: ${first?.message ?? "invalid"}`;
}
