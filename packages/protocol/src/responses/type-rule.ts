// What is said of a `type` that is not known here. Used by input.ts and tools.ts.

/** Most characters of an unknown type that an error repeats: it may be anything. */
const shownMax = 64;

/**
 * The error of a schema that goes by `type`: names the type that was sent, or for some of them (`reasons`) why it is
 * refused.
 */
export function typeRule(rule: string, reasons: ReadonlyMap<string, string> = new Map()) {
  return {
    error: ({ input }: { input?: unknown }): string => {
      const type: unknown = typeof input === "object" && input !== null ? Reflect.get(input, "type") : input;
      if (typeof type !== "string") return rule;
      return reasons.get(type) ?? `${rule}, not ${JSON.stringify(type.slice(0, shownMax))}`;
    },
  };
}
