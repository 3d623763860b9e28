export const levels: readonly string[];
export function levelFor(
  built: readonly string[],
  flags: ReadonlySet<string> | undefined,
): string | undefined;
export function processorFlags(cpuinfo?: string): ReadonlySet<string> | undefined;
export function addonOf(level: string, buildDir: string): string;
export function addonFor(buildDir: string, flags?: ReadonlySet<string>): string;
