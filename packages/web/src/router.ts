// The router: routes are in the fragment of the URL, such as `#/chat/ID` and `#/library`.
import { signal } from "@preact/signals";

export const pageNames = ["chat", "text", "library", "server", "settings"] as const;
export type PageName = (typeof pageNames)[number];

export interface Route {
  page: PageName;
  /** The decoded segments after the page: `["abc"]` for `#/chat/abc`. */
  parts: readonly string[];
}

/** Parses a fragment; anything that is not a page leads to the chat. */
export function parseRoute(fragment: string): Route {
  const [name = "", ...parts] = fragment
    .replace(/^#?\/?/, "")
    .split("/")
    .map(decodePart);
  const page = pageNames.find((known) => known === name);
  return page === undefined
    ? { page: "chat", parts: [] }
    : { page, parts: parts.filter((part) => part !== "") };
}

/** The fragment of a page; encodes its parts. */
export function linkTo(page: PageName, ...parts: string[]): string {
  return `#/${[page, ...parts].map(encodeURIComponent).join("/")}`;
}

function decodePart(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    // A lone % that the user typed.
    return part;
  }
}

export const route = signal<Route>({ page: "chat", parts: [] });

/** The last route of each page. */
const lastParts = new Map<PageName, readonly string[]>();

/** The fragment of a page's last route, such as the open chat; from the page itself, of its start. */
export function linkBack(page: PageName): string {
  return route.value.page === page ? linkTo(page) : linkTo(page, ...(lastParts.get(page) ?? []));
}

/** Follows the URL from now on. */
export function startRouter(): void {
  addEventListener("hashchange", follow);
  follow();
}

function follow(): void {
  // `go` has already followed the change that this event reports.
  if (linkTo(route.value.page, ...route.value.parts) === location.hash) return;
  route.value = parseRoute(location.hash);
  lastParts.set(route.value.page, route.value.parts);
}

/** Goes to a page. `replace` replaces the current history entry. */
export function navigate(fragment: string, { replace = false }: { replace?: boolean } = {}): void {
  if (replace) location.replace(fragment);
  else location.hash = fragment;
  // The event comes later; until then, keys would still reach the old page.
  follow();
}
