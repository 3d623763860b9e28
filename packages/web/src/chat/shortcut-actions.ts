// What the keys of the chat page do. Listens while the page is shown.
import { useEffect } from "preact/hooks";

import { openPath } from "../chats/chat-store.ts";
import { copyText } from "../design/copy.ts";
import { showToast } from "../design/toast.tsx";
import { strings } from "../strings/strings.ts";
import { stopWriting } from "./composer.tsx";
import { beginNewChat } from "./conversation-list.tsx";
import { shortcutOf, type ShortcutName } from "./shortcuts.ts";
import { listIsOpen, panelIsOpen, shortcutsAreOpen } from "./ui-state.ts";

const actions: Record<ShortcutName, () => void> = {
  newChat: beginNewChat,
  search: () => {
    listIsOpen.value = true;
    focusOn("#chat-search");
  },
  composer: () => focusOn("#composer-text"),
  stop: stopWriting,
  editLast: () => [...document.querySelectorAll<HTMLElement>('[data-action="edit"]')].at(-1)?.click(),
  copyLast: () => void copyLast(),
  list: () => (listIsOpen.value = !listIsOpen.value),
  panel: () => (panelIsOpen.value = !panelIsOpen.value),
  shortcuts: () => (shortcutsAreOpen.value = true),
};

export function useShortcuts(): void {
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      // A dialog or a menu that is open has its own keys.
      if (event.defaultPrevented || document.querySelector("dialog[open], .menu:popover-open") !== null)
        return;
      const name = shortcutOf(event, isWriting(event.target));
      if (name === undefined) return;
      if (name === "stop" && closeDrawers()) return;
      if (name !== "stop") event.preventDefault();
      actions[name]();
    };
    addEventListener("keydown", onKeyDown);
    return () => removeEventListener("keydown", onKeyDown);
  }, []);
}

/** Escape closes what lies over the chat first. */
function closeDrawers(): boolean {
  const isNarrow = matchMedia("(max-width: 64rem)").matches;
  if (!isNarrow || (!listIsOpen.value && !panelIsOpen.value)) return false;
  listIsOpen.value = false;
  panelIsOpen.value = false;
  return true;
}

function isWriting(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.matches("input, textarea, select, [contenteditable]");
}

/** After the page has been drawn with what was opened. */
function focusOn(selector: string): void {
  setTimeout(() => document.querySelector<HTMLElement>(selector)?.focus());
}

async function copyLast(): Promise<void> {
  const last = openPath.value.findLast(({ role }) => role === "assistant");
  if (last === undefined) return;
  const isCopied = await copyText(last.text);
  showToast({ text: isCopied ? strings.value.app.copied : strings.value.app.copyFailed });
}
