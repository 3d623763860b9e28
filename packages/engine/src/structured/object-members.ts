// The members of an object with named properties, in the schema's order, as GBNF. Used by json-schema.ts.
import { space } from "./json-text.ts";
import { literal, type Rules } from "./rules.ts";

export interface Member {
  name: string;
  /** Of its value. */
  rule: string;
  isRequired: boolean;
}

/** How members are written: around all of them, and each. */
export interface MembersForm {
  open: string;
  close: string;
  /** From the name to the value. */
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
 * What follows a member depends only on whether one was written before it, because of the comma: so two rules a
 * member, made from the last one back to the first.
 */
export function membersRule(members: readonly Member[], rules: Rules, form: MembersForm): string {
  const gap = space(rules);
  /** What may follow when nothing, or something, was written. */
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
