// `response_fields`: selects the fields of a reply to return.

/** Without names, returns all fields. A slash selects a field inside an object; unknown names are ignored. */
export function selected(reply: object, names: readonly string[] | undefined): object {
  if (names === undefined || names.length === 0) return reply;
  return Object.fromEntries(
    names.flatMap((name) => {
      const path = name.split("/");
      const value = path.reduce<unknown>(fieldOf, reply);
      return value === undefined ? [] : [[path.at(-1) ?? name, value]];
    }),
  );
}

function fieldOf(value: unknown, name: string): unknown {
  const isObject = typeof value === "object" && value !== null && Object.hasOwn(value, name);
  return isObject ? Reflect.get(value, name) : undefined;
}
