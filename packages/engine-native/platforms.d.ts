export interface Platform {
  /** As in `process.platform`. */
  readonly os: string;
  /** As in `process.arch`. */
  readonly cpu: string;
  /** Linux only. */
  readonly libc?: string;
  /** Absent in CPU-only packages. Every package for macOS includes Metal. */
  readonly gpu?: string;
}

export interface PlatformDependencies {
  readonly optionalDependencies: Readonly<Record<string, string>>;
  readonly peerDependencies: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta: Readonly<Record<string, { readonly optional: true }>>;
}

export const platforms: readonly Platform[];
export function packageName(platform: Platform): string;
export function platformManifest(platform: Platform, own: Readonly<Record<string, unknown>>): object;
export function platformDependencies(version: string): PlatformDependencies;
export function hostPlatform(): Platform;
