// Describes JSON Schema in words: `number (above 0, at most 1)`.
import { html, joined, type Html } from "./html.ts";
import type { JsonSchema } from "./schema-components.ts";

/** In a request, null means absent everywhere, so it is not mentioned for each field. */
export interface WordsOptions {
  isRequest: boolean;
}

/** A type with its bounds, and links to named types. */
export function words(schema: JsonSchema, options: WordsOptions): Html {
  const choices = schemaChoices(schema, options);
  if (choices.length > 0) return joined(distinct(choices.map((choice) => words(choice, options))), " or ");
  if (schema.$ref !== undefined) return linkTo(schemaName(schema.$ref));
  if (schema.not !== undefined) return html`nothing`;
  if (schema.const !== undefined) return value(schema.const);
  if (schema.enum !== undefined) return joined(schema.enum.map(value), " or ");
  return typeWords(schema, options);
}

/** The variants of a union; empty if it is not a union. */
export function schemaChoices(schema: JsonSchema, { isRequest }: WordsOptions): JsonSchema[] {
  const { type } = schema;
  const choices = Array.isArray(type)
    ? type.map((each) => ({ ...schema, type: each }))
    : (schema.anyOf ?? schema.oneOf ?? []);
  return isRequest ? choices.filter((choice) => choice.type !== "null") : choices;
}

/** JSON Schema allows true and false for "anything" and "nothing". */
export function asSchema(part: JsonSchema | boolean | undefined): JsonSchema {
  return typeof part === "object" ? part : {};
}

/** Returns `ToolCall` for `#/components/schemas/ToolCall`. */
export function schemaName(reference: string): string {
  return reference.slice(reference.lastIndexOf("/") + 1);
}

/** A value in JSON notation. */
export function value(json: unknown): Html {
  return html`<code>${JSON.stringify(json)}</code>`;
}

function linkTo(name: string): Html {
  return html`<a href="#${name}">${name}</a>`;
}

function distinct(parts: readonly Html[]): Html[] {
  return [...new Set(parts.map((part) => part.html))].map((text) => ({ html: text }));
}

function typeWords(schema: JsonSchema, options: WordsOptions): Html {
  const { type, items, additionalProperties } = schema;
  const own = html`${typeof type === "string" ? type : "any value"}`;
  const bounds = boundWords(schema);
  const bounded = bounds === "" ? own : html`${own} (${bounds})`;
  if (items !== undefined) return html`${bounded} of ${itemWords(items, options)}`;
  if (typeof additionalProperties !== "object") return bounded;
  return html`${bounded} of ${words(additionalProperties, options)}`;
}

/** An unnamed object's fields have rows of their own. */
function itemWords(items: JsonSchema["items"], options: WordsOptions): Html {
  const item = asSchema(Array.isArray(items) ? items[0] : items);
  return item.properties === undefined ? words(item, options) : html`objects`;
}

function boundWords(schema: JsonSchema): string {
  const { minLength, maxLength, minItems, maxItems, pattern } = schema;
  const bounds = [
    numberBounds(schema),
    range(minLength, maxLength, "characters"),
    range(minItems, maxItems, "entries"),
    pattern === undefined ? "" : `matching ${pattern}`,
  ];
  return bounds.filter((bound) => bound !== "").join(", ");
}

function numberBounds({ minimum, maximum, exclusiveMinimum, exclusiveMaximum }: JsonSchema): string {
  const edges = [
    typeof exclusiveMinimum === "number" ? `above ${count(exclusiveMinimum)}` : "",
    range(minimum, maximum, ""),
    typeof exclusiveMaximum === "number" ? `below ${count(exclusiveMaximum)}` : "",
  ];
  return edges.filter((edge) => edge !== "").join(", ");
}

function range(min: number | undefined, max: number | undefined, unit: string): string {
  if (min === undefined && max === undefined) return "";
  if (min === undefined) return `at most ${count(max ?? 0)} ${unit}`.trimEnd();
  if (max === undefined) return `at least ${count(min)} ${unit}`.trimEnd();
  return `${count(min)} to ${count(max)} ${unit}`.trimEnd();
}

function count(number: number): string {
  return number.toLocaleString("en-US");
}
