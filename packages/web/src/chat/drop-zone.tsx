// Files that are dragged over the chat may be dropped anywhere on it.
import type { ComponentChildren } from "preact";
import { useRef, useState } from "preact/hooks";

import { Icon } from "../design/icon.tsx";
import { strings } from "../strings/strings.ts";
import { addFiles } from "./add-files.ts";
import { currentConversation } from "./current-chat.ts";

export function DropZone({ children }: { children: ComponentChildren }) {
  const [isOver, setOver] = useState(false);
  // Each element inside is entered and left by itself: the zone is left when all of them are.
  const depth = useRef(0);
  const move = (event: DragEvent, step: number) => {
    if (event.dataTransfer?.types.includes("Files") !== true) return;
    event.preventDefault();
    depth.current = Math.max(0, depth.current + step);
    setOver(depth.current > 0);
  };
  return (
    <div
      class="drop-zone"
      role="presentation"
      onDragEnter={(event) => move(event, 1)}
      onDragLeave={(event) => move(event, -1)}
      onDragOver={(event) => move(event, 0)}
      onDrop={(event) => {
        depth.current = 0;
        setOver(false);
        const files = [...(event.dataTransfer?.files ?? [])];
        if (files.length === 0) return;
        event.preventDefault();
        void addFiles(currentConversation.value?.id ?? "", files);
      }}
    >
      {children}
      {isOver && (
        <div class="drop-here">
          <Icon name="upload" size={32} />
          <span>{strings.value.chat.dropHere}</span>
        </div>
      )}
    </div>
  );
}
