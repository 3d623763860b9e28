// Runs the keyboard shortcuts of the chat page while it is shown, and lists them.
import { useEffect } from "preact/hooks";

import { openPath } from "../conversations/chat-store.ts";
import { copyText } from "../design/copy-button.tsx";
import { Dialog } from "../design/dialog.tsx";
import { showToast } from "../design/toast.tsx";
import { appText } from "../strings/app.ts";
import { chatText } from "../strings/chat.ts";
import { stopWriting } from "./composer.tsx";
import { beginNewChat } from "./conversation-list.tsx";
import { closeDrawers, listIsOpen, panelIsOpen, shortcutsAreOpen } from "../conversations/current-chat.ts";
import { type Shortcut, findShortcut, shortcuts } from "./shortcuts.ts";
import "./chat-dialogs.css";

const actions: Record<Shortcut["name"], () => void> = {
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
      // An open dialog or menu handles its own keys.
      if (event.defaultPrevented || document.querySelector("dialog[open], .menu:popover-open") !== null)
        return;
      const name = findShortcut(event, isTextField(event.target));
      if (name === undefined) return;
      if (name === "stop" && closeDrawers()) return;
      if (name !== "stop") event.preventDefault();
      actions[name]();
    };
    addEventListener("keydown", onKeyDown);
    return () => removeEventListener("keydown", onKeyDown);
  }, []);
}

function isTextField(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.matches("input, textarea, select, [contenteditable]");
}

/** Waits for the render that shows the element. */
function focusOn(selector: string): void {
  setTimeout(() => document.querySelector<HTMLElement>(selector)?.focus());
}

async function copyLast(): Promise<void> {
  const last = openPath.value.findLast(({ role }) => role === "assistant");
  if (last === undefined) return;
  const isCopied = await copyText(last.text);
  showToast({ text: isCopied ? appText.copied : appText.copyFailed });
}

const isMac = /mac|iphone|ipad/i.test(navigator.userAgent);

export function ShortcutsDialog() {
  const names = chatText.shortcutNames;
  if (!shortcutsAreOpen.value) return null;
  return (
    <Dialog title={chatText.shortcuts} onClose={() => (shortcutsAreOpen.value = false)}>
      <dl class="shortcut-list">
        <Keys name={names.send} keys={["Enter"]} />
        <Keys name={names.newLine} keys={["Shift", "Enter"]} />
        {shortcuts.map((shortcut) => (
          <Keys key={shortcut.name} name={names[shortcut.name]} keys={keyLabels(shortcut)} />
        ))}
      </dl>
    </Dialog>
  );
}

function Keys({ name, keys }: { name: string; keys: readonly string[] }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        {keys.map((key) => (
          <kbd key={key}>{key}</kbd>
        ))}
      </dd>
    </div>
  );
}

function keyLabels({ key, isControl, isShift }: Shortcut): string[] {
  const shown = key === "escape" ? "Esc" : key.toUpperCase();
  const needsShift = isShift && /[a-z]/.test(key);
  return [...(isControl ? [isMac ? "⌘" : "Ctrl"] : []), ...(needsShift ? ["Shift"] : []), shown];
}
