// A table that scrolls sideways on a narrow page.
import type { ComponentChildren } from "preact";

import "./table.css";

interface Column {
  label: string;
  /** Aligns the heading to the right. */
  isNumber?: boolean;
  /** Hides the heading visually, such as for a column of buttons. */
  isQuiet?: boolean;
}

interface TableProps {
  /** The accessible name. */
  label: string;
  columns: readonly Column[];
  /** Rows of `<tr>`. */
  children: ComponentChildren;
}

export function Table({ label, columns, children }: TableProps) {
  return (
    // Focusable, so that the keyboard can scroll it.
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
