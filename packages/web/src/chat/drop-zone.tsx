// Accepts files dropped anywhere on the chat.
import type { ComponentChildren } from "preact";
import { useRef, useState } from "preact/hooks";

import { Icon } from "../design/icon.tsx";
import { strings } from "../strings/strings.ts";
import { currentConversation } from "./current-chat.ts";
import { attachFiles } from "./drafts.ts";

export function DropZone({ children }: { children: ComponentChildren }) {
  const [isOver, setOver] = useState(false);
  // Every element inside fires its own enter and leave events; the pointer is outside when they balance.
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
        void attachFiles(currentConversation.value?.id ?? "", files);
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
