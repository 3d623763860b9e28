/** Converts a time to whole seconds since 1970, as in responses. */
export function toUnixSeconds(time: Date): number {
  return Math.floor(time.getTime() / 1000);
}
