/** A time as the wire has it: whole seconds since 1970. */
export function toUnixSeconds(time: Date): number {
  return Math.floor(time.getTime() / 1000);
}
