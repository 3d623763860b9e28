// A table that scrolls by itself where the page is narrow.
import type { ComponentChildren } from "preact";

import "./table.css";

export interface Column {
  label: string;
  /** Numbers stand at the right. */
  isNumber?: boolean;
  /** Its heading is for screen readers alone, such as of a column of buttons. */
  isQuiet?: boolean;
}

interface TableProps {
  /** What the rows are; read out, not shown. */
  label: string;
  columns: readonly Column[];
  /** Rows of `<tr>`. */
  children: ComponentChildren;
}

export function Table({ label, columns, children }: TableProps) {
  return (
    // The frame scrolls, so the keyboard has to reach it.
    <div class="table-frame" role="region" aria-label={label} tabIndex={0}>
      <table class="table">
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column.label} scope="col" class={column.isNumber === true ? "number" : undefined}>
                <span class={column.isQuiet === true ? "visually-hidden" : undefined}>{column.label}</span>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}
