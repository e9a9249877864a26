import type { ComponentChildren, RefObject } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';

/** Returns the rows of fixed height that fill a window of `height` at `top`. */
export function findVisibleRows(view: { top: number; height: number; row: number; count: number; spare?: number }) {
  const { top, height, row, count, spare = 6 } = view;
  const start = Math.max(0, Math.min(count, Math.floor(top / row)) - spare);
  const end = Math.min(count, Math.ceil((top + height) / row) + spare);
  return { start, end: Math.max(start, end) };
}

interface VirtualListProps<Row> {
  readonly rows: readonly Row[];
  readonly label: string;
  /** Returns the key of a row, by which the list finds it again when rows are added above it. */
  keyOf(row: Row): string;
  render(row: Row, index: number): ComponentChildren;
  /** Gets the element that scrolls. */
  readonly scroller?: RefObject<HTMLDivElement | null>;
  onScrollTop?(top: number): void;
  /** Called when the end comes near. */
  onEnd?(): void;
}

/** A list that shows thousands of rows with the elements of one screen. */
export function VirtualList<Row>({ rows, label, keyOf, render, scroller, onScrollTop, onEnd }: VirtualListProps<Row>) {
  const own = useRef<HTMLDivElement>(null);
  const element = scroller ?? own;
  const [view, setView] = useState({ top: 0, height: 800, row: 28 });
  const anchor = useRef<{ key: string; offset: number } | undefined>(undefined);

  const measure = () => {
    const list = element.current;
    if (!list) return;
    const row = Number.parseFloat(getComputedStyle(list).getPropertyValue('--row')) || 28;
    setView((before) =>
      before.top === list.scrollTop && before.height === list.clientHeight && before.row === row
        ? before
        : { top: list.scrollTop, height: list.clientHeight, row },
    );
  };

  // Keeps the visible rows in place when rows are added above them.
  useLayoutEffect(() => {
    const list = element.current;
    if (!list || !anchor.current || list.scrollTop < view.row) return;
    const { key, offset } = anchor.current;
    const index = rows.findIndex((row) => keyOf(row) === key);
    if (index >= 0 && Math.abs(list.scrollTop - (index * view.row + offset)) > 1)
      list.scrollTop = index * view.row + offset;
  }, [rows]);

  useEffect(() => {
    const list = element.current;
    if (!list) return;
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(list);
    return () => observer.disconnect();
  }, []);

  const { start, end } = findVisibleRows({ ...view, count: rows.length });
  useEffect(() => {
    if (end >= rows.length - 10 && rows.length > 0) onEnd?.();
  }, [end, rows.length]);

  const scrolled = () => {
    const list = element.current;
    if (!list) return;
    const index = Math.floor(list.scrollTop / view.row);
    const first = rows[index];
    anchor.current = first && { key: keyOf(first), offset: list.scrollTop - index * view.row };
    onScrollTop?.(list.scrollTop);
    measure();
  };

  return (
    <div class="list" ref={element} onScroll={scrolled} tabIndex={0} role="group" aria-label={label}>
      <ul class="list-rows" style={{ height: `${rows.length * view.row}px` }}>
        {rows.slice(start, end).map((row, index) => (
          <li key={keyOf(row)} class="list-row" style={{ transform: `translateY(${(start + index) * view.row}px)` }}>
            {render(row, start + index)}
          </li>
        ))}
      </ul>
    </div>
  );
}
