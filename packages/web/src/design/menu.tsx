// A button with a menu, based on the browser's popover, which is above everything and closes by itself.
import type { ComponentChildren } from "preact";
import { useId, useRef, useState } from "preact/hooks";

import { TextInput } from "./field.tsx";
import { Icon, type IconName } from "./icon.tsx";

import "./menu.css";

export interface MenuItem {
  label: string;
  icon?: IconName;
  /** A short note below its label. */
  note?: string;
  /** Whether this is the current choice; undefined for items that are not a choice. */
  isChosen?: boolean;
  isDisabled?: boolean;
  isDangerous?: boolean;
  onSelect: () => void;
}

interface MenuProps {
  /** The button's accessible name. */
  label: string;
  icon?: IconName;
  /** The button's text; without it, the button shows only the icon. */
  children?: ComponentChildren;
  /** A function is called only while the menu is open. */
  items: readonly MenuItem[] | (() => readonly MenuItem[]);
  size?: "small" | "medium";
  /** The name of a search box, which is shown if there are many items. */
  search?: string;
}

const gap = 4;
/** The search is shown from this many items on. */
const searchFrom = 8;

export function Menu({ label, icon, children, items, size = "medium", search }: MenuProps) {
  const button = useRef<HTMLButtonElement>(null);
  const list = useRef<HTMLDivElement>(null);
  const id = useId();
  // A list has a menu in every row, so items are rendered only while a menu is open.
  const [isOpen, setOpen] = useState(false);
  const [words, setWords] = useState("");
  const hasText = children !== undefined;
  const all = isOpen ? (typeof items === "function" ? items() : items) : [];
  const hasSearch = search !== undefined && all.length >= searchFrom;
  const wanted = words.trim().toLowerCase();
  const shown = hasSearch ? all.filter((item) => item.label.toLowerCase().includes(wanted)) : all;
  return (
    <>
      <button
        ref={button}
        type="button"
        class={`button quiet ${size} ${hasText ? "" : "icon-button"}`}
        title={hasText ? undefined : label}
        aria-label={label}
        aria-haspopup="menu"
        aria-expanded={isOpen}
        popovertarget={id}
      >
        {icon !== undefined && <Icon name={icon} size={size === "small" ? 16 : 20} />}
        {hasText && <span class="menu-text">{children}</span>}
        {hasText && <Icon name="chevronDown" size={16} />}
      </button>
      <div
        ref={list}
        id={id}
        class="menu"
        popover="auto"
        onBeforeToggle={(event) => {
          if (event.newState === "open") setOpen(true);
        }}
        onToggle={(event) => {
          setOpen(event.newState === "open");
          setWords("");
          if (event.newState !== "open") return;
          place(button.current, list.current);
          list.current?.querySelector<HTMLElement>("input, button:not(:disabled)")?.focus();
        }}
        onKeyDown={(event) => moveFocus(event, list.current)}
      >
        {hasSearch && (
          <TextInput
            type="search"
            aria-label={search}
            placeholder={search}
            value={words}
            onValue={setWords}
          />
        )}
        <div role="menu" tabIndex={-1} aria-label={label}>
          {shown.map((item) => (
            <MenuButton
              key={item.label}
              item={item}
              onClick={() => {
                list.current?.hidePopover();
                item.onSelect();
              }}
            />
          ))}
        </div>
      </div>
    </>
  );
}

function MenuButton({ item, onClick }: { item: MenuItem; onClick: () => void }) {
  return (
    <button
      type="button"
      role={item.isChosen === undefined ? "menuitem" : "menuitemradio"}
      aria-checked={item.isChosen}
      tabIndex={-1}
      class={`menu-item ${item.isDangerous === true ? "danger" : ""}`}
      disabled={item.isDisabled === true}
      onClick={onClick}
    >
      {item.icon !== undefined && <Icon name={item.icon} size={18} />}
      <span>
        {item.label}
        {item.note !== undefined && <span class="menu-note">{item.note}</span>}
      </span>
      {item.isChosen === true && <Icon name="check" size={16} />}
    </button>
  );
}

/** Places the menu below its button, or above if there is no room, and always inside the window. */
function place(button: HTMLElement | null, list: HTMLElement | null): void {
  if (button === null || list === null) return;
  const { left, top, bottom } = button.getBoundingClientRect();
  const { width, height } = list.getBoundingClientRect();
  const fitsBelow = bottom + gap + height + gap <= innerHeight;
  const wanted = fitsBelow ? bottom + gap : Math.max(gap, top - gap - height);
  list.style.left = `${Math.max(gap, Math.min(left, innerWidth - width - gap))}px`;
  list.style.top = `${Math.max(gap, Math.min(wanted, innerHeight - height - gap))}px`;
}

function moveFocus(event: KeyboardEvent, list: HTMLElement | null): void {
  if (list === null) return;
  const items = [...list.querySelectorAll<HTMLElement>("button:not(:disabled)")];
  if (event.target instanceof HTMLInputElement) {
    if (event.key === "Enter") items[0]?.click();
    if (event.key === "Home" || event.key === "End") return;
  }
  const at = items.findIndex((item) => item === document.activeElement);
  const steps: Record<string, number> = {
    ArrowDown: at + 1,
    ArrowUp: at <= 0 ? items.length - 1 : at - 1,
    Home: 0,
    End: items.length - 1,
  };
  const next = steps[event.key];
  if (next === undefined) {
    if (event.key === "Tab") list.hidePopover();
    return;
  }
  event.preventDefault();
  items[next % items.length]?.focus();
}
