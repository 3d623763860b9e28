// Edits a name in place: Enter or leaving the box saves it, Escape discards the change.
import { useEffect, useRef } from "preact/hooks";

interface NameInputProps {
  label: string;
  name: string;
  onName: (name: string) => void;
  onEnd: () => void;
}

export function NameInput({ label, name, onName, onEnd }: NameInputProps) {
  const box = useRef<HTMLInputElement>(null);
  const isOver = useRef(false);
  useEffect(() => {
    box.current?.select();
  }, []);
  const end = (isSaved: boolean) => {
    if (isOver.current) return;
    isOver.current = true;
    if (isSaved && box.current !== null) onName(box.current.value);
    onEnd();
  };
  return (
    <input
      ref={box}
      type="text"
      class="input name-input"
      aria-label={label}
      defaultValue={name}
      onBlur={() => end(true)}
      onKeyDown={(event) => {
        if (event.key === "Enter") end(true);
        if (event.key === "Escape") end(false);
        event.stopPropagation();
      }}
    />
  );
}
