// Sizes, times and counts in the user's language. Components that call these rerender when the language changes.
import { signal } from "@preact/signals";

import { language } from "../strings/strings.ts";
import {
  formatAgo,
  formatByteRate,
  formatBytes,
  formatCount,
  formatDuration,
  formatMoment,
  formatRate,
  formatRoundCount,
  formatShare,
  formatTimeOfDay,
} from "./numbers.ts";

/** How often texts such as "5 minutes ago" are updated. */
const tickMs = 15_000;

/** Unix seconds. */
const now = signal(Date.now() / 1000);
setInterval(() => {
  now.value = Date.now() / 1000;
}, tickMs);

export const bytesText = (bytes: number): string => formatBytes(bytes, language.value);
export const byteRateText = (bytes: number): string => formatByteRate(bytes, language.value);
export const countText = (count: number): string => formatCount(count, language.value);
export const roundCountText = (count: number): string => formatRoundCount(count, language.value);
export const rateText = (perSecond: number): string => formatRate(perSecond, language.value);
export const shareText = (share: number): string => formatShare(share, language.value);
export const durationText = (seconds: number): string => formatDuration(seconds, language.value);
export const momentText = (time: number): string => formatMoment(time, language.value);
export const timeOfDayText = (time: number): string => formatTimeOfDay(time, language.value);
export const agoText = (time: number): string =>
  formatAgo(time, Math.max(now.value, Date.now() / 1000), language.value);
