// `response_fields`: which fields of a reply to return.

/** All fields without names. A slash takes a field out of an object; names that the reply does not have are left out. */
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
