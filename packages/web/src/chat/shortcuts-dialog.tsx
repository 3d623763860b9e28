// The list of keyboard shortcuts.
import { Dialog } from "../design/dialog.tsx";
import { strings } from "../strings/strings.ts";
import { shortcuts, type Shortcut } from "./shortcuts.ts";
import { shortcutsAreOpen } from "./ui-state.ts";

import "./chat-dialogs.css";

const isMac = /mac|iphone|ipad/i.test(navigator.userAgent);

export function ShortcutsDialog() {
  const text = strings.value.chat;
  const names = text.shortcutNames;
  return (
    <Dialog
      title={text.shortcuts}
      isOpen={shortcutsAreOpen.value}
      onClose={() => (shortcutsAreOpen.value = false)}
    >
      <dl class="shortcut-list">
        <Keys name={names.send} keys={["Enter"]} />
        <Keys name={names.newLine} keys={["Shift", "Enter"]} />
        {shortcuts.map((shortcut) => (
          <Keys key={shortcut.name} name={names[shortcut.name]} keys={keysOf(shortcut)} />
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

function keysOf({ key, isControl, isShift }: Shortcut): string[] {
  const shown = key === "escape" ? "Esc" : key.toUpperCase();
  const needsShift = isShift && /[a-z]/.test(key);
  return [...(isControl ? [isMac ? "⌘" : "Ctrl"] : []), ...(needsShift ? ["Shift"] : []), shown];
}
