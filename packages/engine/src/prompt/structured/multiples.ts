// GBNF for integers within bounds that are multiples of some numbers and not of others: an automaton reads their digits, and knows the
// remainder.
import { statesMax, trimmed, type Automaton, type Edge, type State } from "./automaton.ts";
import { automatonRule } from "./automaton-rules.ts";
import { inText, toCharacterSet, type Range } from "./character-set.ts";
import { integersByLength, type Bounds } from "./number-range.ts";
import { type Rules, cannotEnforce } from "./rules.ts";

export interface Multiples {
  readonly multiples: readonly number[];
  readonly noMultiples: readonly number[];
}

/** Ten digits are tried. */
const stepsPerPlace = 6;

/** What has been read: how many digits are missing, what they must be, and the remainder so far. */
interface Place {
  left: number;
  /** The digits that are missing of the lowest and the highest number, while those before are its own. */
  low: string | undefined;
  high: string | undefined;
  remainder: number;
}

/**
 * Undefined if there are none. The larger the least common multiple, the fewer digits the numbers have. Throws a SchemaError if
 * none within the bounds has as few.
 */
export function multiplesRule(bounds: Bounds, multiples: Multiples, rules: Rules): string | undefined {
  const modulus = [...multiples.multiples, ...multiples.noMultiples].reduce(leastCommonMultiple, 1);
  const digitsMost = Math.floor(statesMax / modulus);
  const all = integersByLength(bounds);
  const short = all.filter(({ low }) => low.length <= digitsMost);
  if (short.length === 0 && all.length > 0)
    throw cannotEnforce(`multipleOf cannot be enforced: it needs more than ${statesMax} states`);
  const options = (["", "-"] as const).flatMap((sign) => {
    const lengths = short.filter((each) => each.sign === sign);
    const rule = automatonRule(multiplesAutomaton(lengths, modulus, multiples, rules), inText, rules);
    return rule === undefined ? [] : [sign === "-" ? `"-" ${rule}` : rule];
  });
  return options.length === 0 ? undefined : options.join(" | ");
}

/** The first state has the edges of the first digits of each length. */
function multiplesAutomaton(
  lengths: readonly { low: string; high: string }[],
  modulus: number,
  { multiples, noMultiples }: Multiples,
  rules: Rules,
): Automaton {
  const accepts = ({ left, remainder }: Place): boolean =>
    left === 0 &&
    multiples.every((each) => remainder % each === 0) &&
    noMultiples.every((each) => remainder % each !== 0);
  const places: Place[] = [];
  const numbers = new Map<string, number>();
  const stateNumber = (place: Place): number => {
    const key = `${place.left} ${place.low} ${place.high} ${place.remainder}`;
    const known = numbers.get(key);
    if (known !== undefined) return known;
    places.push(place);
    numbers.set(key, places.length);
    return places.length;
  };
  const digitEdges = (place: Place): Edge[] => {
    const targets = new Map<number, Range[]>();
    for (const digit of place.left === 0 ? [] : digits) {
      const next = after(place, digit, modulus);
      if (next === undefined) continue;
      const to = stateNumber(next);
      targets.set(to, [...(targets.get(to) ?? []), [0x30 + digit, 0x30 + digit]]);
    }
    rules.spend(stepsPerPlace);
    return Array.from(targets, ([to, ranges]) => ({ set: toCharacterSet(ranges), to }));
  };
  const first = lengths.flatMap(({ low, high }) => digitEdges({ left: low.length, low, high, remainder: 0 }));
  const states: State[] = [{ accepts: false, edges: first }];
  for (const place of places) states.push({ accepts: accepts(place), edges: digitEdges(place) });
  return trimmed(states);
}

const digits = Array.from({ length: 10 }, (_, digit) => digit);

function after({ left, low, high, remainder }: Place, digit: number, modulus: number): Place | undefined {
  const [first, last] = [low === undefined ? 0 : Number(low[0]), high === undefined ? 9 : Number(high[0])];
  if (digit < first || digit > last) return undefined;
  return {
    left: left - 1,
    low: low !== undefined && digit === first ? low.slice(1) : undefined,
    high: high !== undefined && digit === last ? high.slice(1) : undefined,
    remainder: (remainder * 10 + digit) % modulus,
  };
}

function leastCommonMultiple(one: number, other: number): number {
  let [a, b] = [one, other];
  while (b !== 0) [a, b] = [b, a % b];
  return (one / a) * other;
}
