// Writes a schema's fields as HTML tables, including those of nested objects.
import { html, type Html } from "./html.ts";
import type { JsonSchema } from "./schema-components.ts";
import { asSchema, schemaChoices, value, words, type WordsOptions } from "./schema-words.ts";

interface Field {
  /** `choices[].message.content` */
  path: string;
  isRequired: boolean;
  schema: JsonSchema;
}

/** The content of a schema: a table for an object, one for each variant of a union, otherwise its type in words. */
export function fields(schema: JsonSchema, options: WordsOptions): Html {
  if (schema.properties !== undefined) return table(listFields(schema, "", options), options);
  const choices = schemaChoices(schema, options);
  if (!choices.some((choice) => choice.properties !== undefined))
    return html`<p>${words(schema, options)}</p>`;
  return html`<p>One of these:</p>
    ${choices.map((choice) => fields(choice, options))}`;
}

function table(rows: readonly Field[], options: WordsOptions): Html {
  return html`<div class="wide">
    <table>
      <tr>
        <th>field</th>
        <th>type</th>
        <th>default</th>
        <th>meaning</th>
      </tr>
      ${rows.map((row) => line(row, options))}
    </table>
  </div>`;
}

function line({ path, isRequired, schema }: Field, options: WordsOptions): Html {
  return html`<tr>
    <td><code>${path}</code></td>
    <td>${words(schema, options)}</td>
    <td>${defaultText(schema, isRequired)}</td>
    <td>${schema.description ?? ""}</td>
  </tr> `;
}

function defaultText(schema: JsonSchema, isRequired: boolean): Html {
  if (isRequired) return html`required`;
  return schema.default === undefined ? html`` : value(schema.default);
}

function listFields(schema: JsonSchema, prefix: string, options: WordsOptions): Field[] {
  const found = Object.entries(schema.properties ?? {}).flatMap(([name, part]) => {
    const own = asSchema(part);
    const path = prefix + name;
    const field = { path, isRequired: schema.required?.includes(name) === true, schema: own };
    return [field, ...innerFields(own, path, options)];
  });
  // The variants of a union may share fields, such as the discriminator.
  return [...new Map(found.toReversed().map((field) => [field.path, field])).values()].toReversed();
}

/** The fields of unnamed objects nested in a field. */
function innerFields(schema: JsonSchema, path: string, options: WordsOptions): Field[] {
  const forms = [schema, ...schemaChoices(schema, options)];
  return forms.flatMap((form) => {
    const { items } = form;
    const item = Array.isArray(items) ? undefined : items;
    return [
      ...listFields(form, `${path}.`, options),
      ...(item === undefined ? [] : listFields(asSchema(item), `${path}[].`, options)),
    ];
  });
}
