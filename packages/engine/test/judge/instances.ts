// Whether the grammar of a strict schema admits the valid instances of a test suite, and none of the others.
import { isObject, narrowing } from "./narrower.ts";
import type { SuiteSchema } from "./suite.ts";
import type { Walks } from "./walks.ts";

export type InstanceVerdict =
  /** Valid, and admitted as it is, or with its properties in the schema's order. */
  | { kind: "admitted" | "reordered" }
  /** Valid, and kept out by a documented limit of grammars. */
  | { kind: "narrower"; why: string }
  /** Invalid, and not admitted. */
  | { kind: "forbidden" }
  /** Faults. */
  | { kind: "wrongly admitted" | "wrongly forbidden"; text: string; title: string };

/** The grammar of the schema is open in `walks`. */
export async function judgeInstances(
  { schema, instances, draft }: SuiteSchema,
  walks: Walks,
): Promise<InstanceVerdict[]> {
  const verdicts: InstanceVerdict[] = [];
  for (const { title, value, isValid } of instances) {
    const text = JSON.stringify(value);
    const isAdmitted = await walks.admits(text);
    const isOrdered = isAdmitted || (await walks.admits(JSON.stringify(inOrder(value, namesIn(schema)))));
    const why = isValid && !isOrdered ? narrowing(schema, value, draft) : undefined;
    if (!isValid)
      verdicts.push(isOrdered ? { kind: "wrongly admitted", text, title } : { kind: "forbidden" });
    else if (isOrdered) verdicts.push({ kind: isAdmitted ? "admitted" : "reordered" });
    else
      verdicts.push(
        why === undefined ? { kind: "wrongly forbidden", text, title } : { kind: "narrower", why },
      );
  }
  return verdicts;
}

/** The names of all properties, in the order in which the schema has them. */
function namesIn(schema: unknown): string[] {
  if (Array.isArray(schema)) return schema.flatMap(namesIn);
  if (!isObject(schema)) return [];
  return Object.entries(schema).flatMap(([keyword, value]) => [
    ...keywordNames(keyword, value),
    ...namesIn(value),
  ]);
}

function keywordNames(keyword: string, value: unknown): string[] {
  if (keyword === "required" && Array.isArray(value)) return value.map(String);
  if (keyword === "const" || keyword === "enum") return keysIn(value);
  if (!isObject(value)) return [];
  if (keyword === "properties") return Object.keys(value);
  const isDependency = keyword === "dependentRequired" || keyword === "dependencies";
  return isDependency
    ? Object.entries(value).flatMap(([name, needed]) => [
        name,
        ...(Array.isArray(needed) ? needed.map(String) : []),
      ])
    : [];
}

function keysIn(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(keysIn);
  return isObject(value) ? Object.entries(value).flatMap(([name, each]) => [name, ...keysIn(each)]) : [];
}

function inOrder(value: unknown, names: readonly string[]): unknown {
  if (Array.isArray(value)) return value.map((each) => inOrder(each, names));
  if (!isObject(value)) return value;
  const place = (name: string): number => (names.includes(name) ? names.indexOf(name) : names.length);
  const members = Object.entries(value).toSorted(([one], [other]) => place(one) - place(other));
  return Object.fromEntries(members.map(([name, each]) => [name, inOrder(each, names)]));
}
