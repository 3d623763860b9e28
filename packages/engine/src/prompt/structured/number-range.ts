// GBNF for numbers between bounds, digit by digit. Bounded numbers have no exponent.
import { digitsMax } from "./json-text.ts";

export interface Bound {
  value: number;
  /** Whether the bound itself is excluded. */
  isOpen: boolean;
}

export interface Bounds {
  min?: Bound | undefined;
  max?: Bound | undefined;
}

/** No generated number has more digits before its point, so larger bounds have no effect. */
const largest = 10 ** digitsMax - 1;

/** GBNF for the integers within the bounds; undefined if there are none. */
export function integersWithin(bounds: Bounds): string | undefined {
  return either(
    wholesWithin(bounds).map(({ sign, low, high }) => {
      const digits = wholeFrom(low, high);
      return sign === "-" ? minus(digits) : digits;
    }),
  );
}

/** The integers within the bounds by their number of digits: the lowest and the highest of each. */
export function integersByLength(bounds: Bounds): { sign: "" | "-"; low: string; high: string }[] {
  return wholesWithin(bounds).flatMap(({ sign, low, high }) =>
    lengthsWithin(low, high).map(([first, last]) => ({ sign, low: first, high: last })),
  );
}

/** GBNF for the numbers with a fraction that is not 0. They have few digits, so that none is rounded to an integer. */
export const fractions = `"-"? ("0" | [1-9] [0-9]{0,8}) "." [0-9]{0,5} [1-9]`;

/** The integers within the bounds, without their sign. */
function wholesWithin({ min, max }: Bounds): { sign: "" | "-"; low: number; high: number }[] {
  const least = min === undefined ? -largest : Math.ceil(min.value) + (isOpenAt(min, Math.ceil) ? 1 : 0);
  const most = max === undefined ? largest : Math.floor(max.value) - (isOpenAt(max, Math.floor) ? 1 : 0);
  const [low, high] = [Math.max(least, -largest), Math.min(most, largest)];
  if (low > high) return [];
  return [
    ...(low < 0 ? [{ sign: "-", low: Math.max(1, -high), high: -low } as const] : []),
    ...(high < 0 ? [] : [{ sign: "", low: Math.max(0, low), high } as const]),
  ];
}

/** GBNF for the numbers within the bounds, with or without a fraction; undefined if there are none. */
export function numbersWithin({ min, max }: Bounds): string | undefined {
  const low = min === undefined || min.value < -largest ? { value: -largest, isOpen: false } : min;
  const high = max === undefined || max.value > largest ? { value: largest, isOpen: false } : max;
  if (low.value > high.value || (low.value === high.value && (low.isOpen || high.isOpen))) return undefined;
  const zero = { value: 0, isOpen: false };
  // -0 is 0: without 0, it is excluded too.
  const nearest = high.value < 0 || (high.value === 0 && high.isOpen) ? mirrored(high) : zero;
  return either([
    low.value < 0 && minus(positive(nearest, mirrored(low))),
    high.value >= 0 && !(high.value === 0 && high.isOpen) && positive(low.value >= 0 ? low : zero, high),
  ]);
}

function isOpenAt(bound: Bound, round: (value: number) => number): boolean {
  return bound.isOpen && round(bound.value) === bound.value;
}

function mirrored({ value, isOpen }: Bound): Bound {
  return { value: -value, isOpen };
}

function minus(expression: string | undefined): string | undefined {
  return expression === undefined ? undefined : `"-" (${expression})`;
}

function either(expressions: readonly (string | false | undefined)[]): string | undefined {
  const possible = expressions.filter((each) => typeof each === "string");
  return possible.length === 0 ? undefined : possible.join(" | ");
}

/** From `low` to `high`, both at least 0. */
function positive(low: Bound, high: Bound): string | undefined {
  const [lowWhole, lowDigits] = splitDecimal(low.value);
  const [highWhole, highDigits] = splitDecimal(high.value);
  // The numbers just below an excluded integer are near it, too.
  const isBelowNear = high.isOpen && highDigits === "";
  const last = highWhole - (isBelowNear ? 2 : 1);
  const fraction = (
    whole: number,
    isFew: boolean,
    from = "",
    isOpen = false,
    to?: string,
  ): string | undefined =>
    joined(whole, fractionWithin(from, isOpen, to, to !== undefined && high.isOpen, roomAfter(whole, isFew)));
  if (lowWhole === highWhole) {
    // The integer parts are equal: only the digits of the fraction differ.
    return fraction(lowWhole, low.isOpen || high.isOpen, lowDigits, low.isOpen, highDigits);
  }
  return either([
    fraction(lowWhole, low.isOpen || (isBelowNear && last < lowWhole), lowDigits, low.isOpen),
    last > lowWhole && `(${wholeFrom(lowWhole + 1, last)}) ("." [0-9]{1,${digitsMax}})?`,
    isBelowNear && last >= lowWhole && fraction(highWhole - 1, true),
    fraction(highWhole, high.isOpen, "", false, highDigits),
  ]);
}

/**
 * Digits of a fraction. Near an excluded bound, numbers have at most as many digits as a JavaScript number can tell apart:
 * with more, one could be rounded to the bound.
 */
function roomAfter(whole: number, isFew: boolean): number {
  return isFew && whole > 0 ? digitsMax - String(whole).length : digitsMax;
}

function joined(whole: number, fraction: string | undefined): string | undefined {
  return fraction === undefined ? undefined : `"${whole}" ${fraction}`;
}

/** The integer part, and the digits of the fraction without trailing zeros. */
function splitDecimal(value: number): [whole: number, digits: string] {
  const whole = Math.floor(value);
  // `String` gives the shortest text of a number, with an exponent if it is very small.
  const [digits = "", exponent] = String(value).split("e-");
  if (exponent !== undefined) return [whole, "0".repeat(Number(exponent) - 1) + digits.replace(".", "")];
  return [whole, digits.split(".")[1] ?? ""];
}

/** A fraction with its point, or none, between the digits `low` and `high`, if given. Undefined if there is none. */
function fractionWithin(
  low: string,
  isLowOpen: boolean,
  high: string | undefined,
  isHighOpen: boolean,
  room: number,
): string | undefined {
  const withoutAny = low === "" && !isLowOpen && !(high === "" && isHighOpen);
  const digits = digitsWithin(low, isLowOpen, high, isHighOpen, room);
  const written = digits === undefined ? undefined : `"." (${digits})`;
  if (written === undefined) return withoutAny ? "" : undefined;
  return withoutAny ? `(${written})?` : written;
}

/** One to `room` digits of a fraction that is not below `low` nor above `high`. */
function digitsWithin(
  low: string,
  isLowOpen: boolean,
  high: string | undefined,
  isHighOpen: boolean,
  room: number,
): string | undefined {
  if (room === 0) return undefined;
  const rest = `[0-9]{0,${room - 1}}`;
  const first = Number(low[0] ?? "0");
  const last = high === undefined ? 9 : Number(high[0] ?? "0");
  const deeper = (digit: number): string | undefined =>
    oneDigit(
      digit,
      digit === first ? low.slice(1) : "",
      digit === first && isLowOpen,
      digit === last && high !== undefined ? high.slice(1) : undefined,
      isHighOpen,
      room - 1,
    );
  if (first > last) return undefined;
  if (first === last) return deeper(first);
  const [from, to] = [first + 1, high === undefined ? 9 : last - 1];
  return either([deeper(first), from <= to && `[${from}-${to}] ${rest}`, high !== undefined && deeper(last)]);
}

/** A digit, and what may follow it: nothing if the number so far is within the bounds too. */
function oneDigit(
  digit: number,
  low: string,
  isLowOpen: boolean,
  high: string | undefined,
  isHighOpen: boolean,
  room: number,
): string | undefined {
  const mayEnd = low === "" && !isLowOpen && !(high === "" && isHighOpen);
  // What is left is exactly the upper bound, and more digits could only be zeros.
  const more = high === "" && isHighOpen ? undefined : digitsWithin(low, isLowOpen, high, isHighOpen, room);
  if (more === undefined) return mayEnd ? `"${digit}"` : undefined;
  return mayEnd ? `"${digit}" (${more})?` : `"${digit}" (${more})`;
}

/** The digits of integers from `low` to `high`, both at least 0. */
function wholeFrom(low: number, high: number): string {
  return lengthsWithin(low, high)
    .map(([first, last]) => sameLength(first, last))
    .join(" | ");
}

/** The lowest and the highest number of each length. */
function lengthsWithin(low: number, high: number): [low: string, high: string][] {
  const lengths: [low: string, high: string][] = [];
  for (let start = low; start <= high;) {
    const end = Math.min(high, 10 ** String(start).length - 1);
    lengths.push([String(start), String(end)]);
    start = end + 1;
  }
  return lengths;
}

/** Digits between two texts of the same length. */
function sameLength(low: string, high: string): string {
  if (low === high) return low === "" ? "" : `"${low}"`;
  const rest = low.length - 1;
  const [first, last] = [Number(low[0]), Number(high[0])];
  const any = rest === 0 ? "" : ` [0-9]{${rest}}`;
  if (/^0*$/.test(low.slice(1)) && /^9*$/.test(high.slice(1))) return `[${first}-${last}]${any}`;
  if (first === last) return `"${first}" (${sameLength(low.slice(1), high.slice(1))})`;
  const middle = first + 1 <= last - 1 ? ` | [${first + 1}-${last - 1}]${any}` : "";
  return (
    `"${first}" (${sameLength(low.slice(1), "9".repeat(rest))})${middle}` +
    ` | "${last}" (${sameLength("0".repeat(rest), high.slice(1))})`
  );
}
