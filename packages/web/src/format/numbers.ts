// Formats sizes, times and counts. Pure. `locale` is a BCP 47 tag.
import prettyBytes from "pretty-bytes";

/** 322,591,712 becomes "308 MiB": three digits, in the units of the server's own messages. */
export function formatBytes(bytes: number, locale: string): string {
  return prettyBytes(bytes, { binary: true, locale });
}

/** "12.3 MiB/s". */
export function formatByteRate(bytesPerSecond: number, locale: string): string {
  return `${formatBytes(bytesPerSecond, locale)}/s`;
}

/** 12345 becomes "12,345". */
export function formatCount(count: number, locale: string): string {
  return new Intl.NumberFormat(locale, { maximumFractionDigits: 0 }).format(count);
}

/** 1234567 becomes "1.2M". */
export function formatRoundCount(count: number, locale: string): string {
  return new Intl.NumberFormat(locale, { notation: "compact", maximumFractionDigits: 1 }).format(count);
}

/** A rate, such as tokens per second: one decimal below 100, none above. */
export function formatRate(perSecond: number, locale: string): string {
  return decimals(perSecond, perSecond >= 99.95 ? 0 : 1, locale);
}

/** 0.256 becomes "26 %", spaced as in the language. */
export function formatShare(share: number, locale: string): string {
  return new Intl.NumberFormat(locale, { style: "percent", maximumFractionDigits: 0 }).format(share);
}

/** "0.4 s", "12 s", "3 min 5 s", "2 h 10 min". The units are international symbols. */
export function formatDuration(seconds: number, locale: string): string {
  if (seconds < 9.95) return `${decimals(seconds, 1, locale)} s`;
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  const minutes = Math.floor(whole / 60);
  if (minutes < 60) return `${minutes} min ${whole % 60} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

const minute = 60;
const hour = 60 * minute;
const day = 24 * hour;

/** "now", "5 minutes ago", "3 days ago"; both times in Unix seconds. */
export function formatAgo(time: number, now: number, locale: string): string {
  const words = new Intl.RelativeTimeFormat(locale, { numeric: "auto", style: "long" });
  const seconds = Math.max(0, now - time);
  if (seconds < minute) return words.format(0, "second");
  if (seconds < hour) return words.format(-Math.floor(seconds / minute), "minute");
  if (seconds < day) return words.format(-Math.floor(seconds / hour), "hour");
  if (seconds < 45 * day) return words.format(-Math.floor(seconds / day), "day");
  if (seconds < 545 * day) return words.format(-Math.round(seconds / (30.44 * day)), "month");
  return words.format(-Math.round(seconds / (365.25 * day)), "year");
}

/** Date and time of day; Unix seconds. */
export function formatMoment(time: number, locale: string): string {
  return new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeStyle: "short" }).format(time * 1000);
}

/** Time of day with seconds; Unix seconds. */
export function formatTimeOfDay(time: number, locale: string): string {
  return new Intl.DateTimeFormat(locale, { timeStyle: "medium", hourCycle: "h23" }).format(time * 1000);
}

function decimals(value: number, digits: number, locale: string): string {
  return new Intl.NumberFormat(locale, {
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
    useGrouping: false,
  }).format(value);
}
