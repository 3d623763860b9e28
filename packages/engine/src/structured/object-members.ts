// GBNF for the members of an object with named properties, in the schema's order.
import { space } from "./json-text.ts";
import { literal, type Rules } from "./rules.ts";

export interface Member {
  name: string;
  /** The rule of its value. */
  rule: string;
  isRequired: boolean;
}

/** The text around all members, and around each. */
export interface MembersForm {
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

/**
 * What may follow a member depends only on whether another one precedes it, because of the comma. So each member has two rules,
 * made from the last member to the first.
 */
export function membersRule(members: readonly Member[], rules: Rules, form: MembersForm): string {
  const gap = space(rules);
  /** What may follow if no member precedes (`first`), or if one does (`later`). */
  let rest: { first: string; later: string } | undefined;
  for (const { name, rule, isRequired } of members.toReversed()) {
    const pair = rules.add(`${form.pair(name)} ${rule}`);
    const first = rest === undefined ? '""' : rest.first;
    const later = rest === undefined ? "" : ` ${rest.later}`;
    rest = {
      first: rules.add(isRequired ? `${pair}${later}` : `${pair}${later} | ${first}`),
      later: rules.add(isRequired ? `"," ${gap} ${pair}${later}` : `("," ${gap} ${pair})?${later}`),
    };
  }
  return `${form.open} ${rest?.first ?? ""} ${form.close}`;
}
