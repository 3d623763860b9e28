// Sizes, times and counts in the user's language. Components that call these rerender when the language changes.
import { signal } from "@preact/signals";
import prettyBytes from "pretty-bytes";

import { language } from "../strings/language.ts";

/** How often texts such as "5 minutes ago" are updated. */
const tickMs = 15_000;

/** Unix seconds. */
const now = signal(Date.now() / 1000);
setInterval(() => {
  now.value = Date.now() / 1000;
}, tickMs);

/** 322,591,712 becomes "308 MiB": three digits, in the units of the server's own messages. */
export function bytesText(bytes: number, locale: string = language.value): string {
  return prettyBytes(bytes, { binary: true, locale });
}

/** "12.3 MiB/s". */
export function byteRateText(bytesPerSecond: number, locale?: string): string {
  return `${bytesText(bytesPerSecond, locale)}/s`;
}

/** 12345 becomes "12,345". */
export function countText(count: number, locale?: string): string {
  return numberText(count, { maximumFractionDigits: 0 }, locale);
}

/** 1234567 becomes "1.2M". */
export function roundCountText(count: number, locale?: string): string {
  return numberText(count, { notation: "compact", maximumFractionDigits: 1 }, locale);
}

/** A rate, such as tokens per second: one decimal below 100, none above. */
export function rateText(perSecond: number, locale?: string): string {
  return decimals(perSecond, perSecond >= 99.95 ? 0 : 1, locale);
}

/** 0.256 becomes "26 %", spaced as in the language. */
export function shareText(share: number, locale?: string): string {
  return numberText(share, { style: "percent", maximumFractionDigits: 0 }, locale);
}

/** "0.4 s", "12 s", "3 min 5 s", "2 h 10 min". The units are international symbols. */
export function durationText(seconds: number, locale?: string): string {
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
export function agoText(
  time: number,
  present: number = Math.max(now.value, Date.now() / 1000),
  locale: string = language.value,
): string {
  const words = new Intl.RelativeTimeFormat(locale, { numeric: "auto", style: "long" });
  const seconds = Math.max(0, present - time);
  if (seconds < minute) return words.format(0, "second");
  if (seconds < hour) return words.format(-Math.floor(seconds / minute), "minute");
  if (seconds < day) return words.format(-Math.floor(seconds / hour), "hour");
  if (seconds < 45 * day) return words.format(-Math.floor(seconds / day), "day");
  if (seconds < 545 * day) return words.format(-Math.round(seconds / (30.44 * day)), "month");
  return words.format(-Math.round(seconds / (365.25 * day)), "year");
}

/** Date and time of day; Unix seconds. */
export function momentText(time: number): string {
  const format = new Intl.DateTimeFormat(language.value, { dateStyle: "medium", timeStyle: "short" });
  return format.format(time * 1000);
}

/** Time of day with seconds; Unix seconds. */
export function timeOfDayText(time: number): string {
  const format = new Intl.DateTimeFormat(language.value, { timeStyle: "medium", hourCycle: "h23" });
  return format.format(time * 1000);
}

function decimals(value: number, digits: number, locale?: string): string {
  const options = { minimumFractionDigits: digits, maximumFractionDigits: digits, useGrouping: false };
  return numberText(value, options, locale);
}

function numberText(
  value: number,
  options: Intl.NumberFormatOptions,
  locale: string = language.value,
): string {
  return new Intl.NumberFormat(locale, options).format(value);
}
