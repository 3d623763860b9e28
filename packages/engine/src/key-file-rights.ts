// Who may read a file that holds a secret: API keys of the server, keys of workers.
import type { Stats } from "node:fs";

/** Permission bits that let someone other than the owner read a file: members of its group, and everyone. */
const readable = { byGroup: 0o040, byAll: 0o004 };

/**
 * Whether users other than `user` (`process.getuid?.()`) can read a file. A file that someone else owns is readable only through its group, as the
 * Secrets of Kubernetes are, so the group's permission is expected there. Always false on Windows, which has no such permissions and no
 * user ids.
 */
export function isReadableByOthers(
  { mode, uid }: Pick<Stats, "mode" | "uid">,
  user: number | undefined,
): boolean {
  if (user === undefined) return false;
  const rights = uid === user ? readable.byGroup | readable.byAll : readable.byAll;
  return (mode & rights) !== 0;
}
