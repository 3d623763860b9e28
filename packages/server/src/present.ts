// Fields that may be absent: here, undefined means the same.

/** The fields that have a value. */
export function present<Fields extends object>(fields: Fields): Fields {
  const entries = Object.entries(fields).filter(([, value]) => value !== undefined);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- absent and undefined are the same here
  return Object.fromEntries(entries) as Fields;
}
