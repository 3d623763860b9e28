// Where the page is, by the address behind `#`: `#/chat/ID`, `#/library`. The browser's back and forward work by themselves.
import { signal } from "@preact/signals";

export const pageNames = ["chat", "text", "library", "server", "settings"] as const;
export type PageName = (typeof pageNames)[number];

export interface Route {
  page: PageName;
  /** What stands behind the page's name, decoded: of `#/chat/abc` it is `["abc"]`. */
  parts: readonly string[];
}

/** The route of an address's fragment; whatever names no page is the chat. */
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

/** The fragment that leads to a page; its parts are encoded. */
export function linkTo(page: PageName, ...parts: string[]): string {
  return `#/${[page, ...parts].map(encodeURIComponent).join("/")}`;
}

function decodePart(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    // A lone % that somebody typed: it names nothing anyway.
    return part;
  }
}

export const route = signal<Route>({ page: "chat", parts: [] });

/** Where each page was left. */
const left = new Map<PageName, readonly string[]>();

/** Leads back to where a page was left, such as to the open chat; from the page itself, to its beginning. */
export function linkBack(page: PageName): string {
  return route.value.page === page ? linkTo(page) : linkTo(page, ...(left.get(page) ?? []));
}

/** Follows the address from now on. */
export function startRouter(): void {
  addEventListener("hashchange", follow);
  follow();
}

function follow(): void {
  // The event comes again for a move that was followed at once: the same place is no change.
  if (linkTo(route.value.page, ...route.value.parts) === location.hash) return;
  route.value = parseRoute(location.hash);
  left.set(route.value.page, route.value.parts);
}

/** Goes to a page. `replace` leaves no step back to the present one. */
export function go(fragment: string, { replace = false }: { replace?: boolean } = {}): void {
  if (replace) location.replace(fragment);
  else location.hash = fragment;
  // The event comes later: what is typed until then would go to the page that is left.
  follow();
}
