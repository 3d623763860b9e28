// Times in seconds, and rates per second.

/** Converts a time to whole seconds since 1970, as in responses. */
export function toUnixSeconds(time: Date): number {
  return Math.floor(time.getTime() / 1000);
}

/** 0 when no time has passed: JSON has no infinity. */
export function perSecond(count: number, milliseconds: number): number {
  return milliseconds > 0 ? (count / milliseconds) * 1000 : 0;
}
