// GBNF for lists in a given order: the members of an object with named properties, and items that differ.
import { space } from "./json-text.ts";
import { literal, type Rules, cannotEnforce } from "./rules.ts";

export interface Member {
  name: string;
  /** The rule of its value. */
  rule: string;
  isRequired: boolean;
}

/** The text around all members, and around each. */
interface MembersForm {
  open: string;
  close: string;
  /** The text from the name to the value. */
  pair: (name: string) => string;
}

export function jsonMembers(rules: Rules): MembersForm {
  const gap = space(rules);
  return {
    open: `"{" ${gap}`,
    close: `${gap} "}"`,
    pair: (name) => `${literal(JSON.stringify(name))} ":" ${gap}`,
  };
}

export function membersRule(members: readonly Member[], rules: Rules, form: MembersForm): string {
  const items = members.map(({ name, rule, isRequired }) => ({
    text: rules.add(`${form.pair(name)} ${rule}`),
    isRequired,
  }));
  return `${form.open} ${orderedList(items, rules)} ${form.close}`;
}

/** The same with `min` to `max` members. Undefined if there are none; throws a SchemaError if they are too many to count. */
export function countedMembersRule(
  members: readonly Member[],
  counts: Counts,
  rules: Rules,
  form: MembersForm,
): string | undefined {
  const items = members.map(({ name, rule, isRequired }) => ({
    text: rules.add(`${form.pair(name)} ${rule}`),
    isRequired,
  }));
  const list = countedList(items, counts, rules);
  return list === undefined ? undefined : `${form.open} ${list} ${form.close}`;
}

interface Item {
  /** The name of a rule. */
  text: string;
  isRequired: boolean;
}

interface Counts {
  min: number;
  max: number;
}

/**
 * Items in this order, separated by commas. What may follow an item depends only on whether another one precedes it, because of
 * the comma. So each item has two rules, made from the last item to the first.
 */
function orderedList(items: readonly Item[], rules: Rules): string {
  const gap = space(rules);
  /** What may follow if no item precedes (`first`), or if one does (`later`). */
  let rest: { first: string; later: string } | undefined;
  for (const { text, isRequired } of items.toReversed()) {
    const first = rest === undefined ? '""' : rest.first;
    const later = rest === undefined ? "" : ` ${rest.later}`;
    rest = {
      first: rules.add(isRequired ? `${text}${later}` : `${text}${later} | ${first}`),
      later: rules.add(isRequired ? `"," ${gap} ${text}${later}` : `("," ${gap} ${text})?${later}`),
    };
  }
  return rest?.first ?? "";
}

/** Rules of a counted list: one for each item and each number of items before it. */
const countedRulesMax = 4_000;

/** Items in this order, `min` to `max` of them; undefined if there are no such lists. */
export function countedList(items: readonly Item[], { min, max }: Counts, rules: Rules): string | undefined {
  const gap = space(rules);
  const most = Math.min(max, items.length);
  if (items.length * (most + 1) > countedRulesMax)
    throw cannotEnforce(
      "minProperties, maxProperties and uniqueItems cannot be enforced for so many properties or items",
    );
  /** By how many items precede: what may follow. */
  let rest: (string | undefined)[] = Array.from({ length: most + 2 }, (_, count) =>
    count >= min && count <= most ? '""' : undefined,
  );
  for (const { text, isRequired } of items.toReversed()) {
    const after = rest;
    rest = after.map((without, count) => {
      const next = after[count + 1];
      const written = next === undefined ? undefined : `${count === 0 ? "" : `"," ${gap} `}${text} ${next}`;
      const options = [written, isRequired ? undefined : without].filter((each) => each !== undefined);
      return options.length === 0 ? undefined : rules.add(options.join(" | "));
    });
  }
  return rest[0];
}
