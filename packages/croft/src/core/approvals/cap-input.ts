import { cutText } from '../../lib/text/cut-text.ts';

/** The same input, or as much of it as fits: what is missing is said in its place. */
export function capInput(input: unknown, maxChars: number): unknown {
  if ((JSON.stringify(input) ?? '').length <= maxChars) return input;
  return cap(input, { left: maxChars });
}

function cap(value: unknown, room: { left: number }): unknown {
  if (typeof value === 'string') return capString(value, room);
  room.left -= 8;
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return capItems(value, room, (item) => cap(item, room));
  const entries = capItems(
    Object.entries(value),
    room,
    ([key, item]) => [capString(key, room), cap(item, room)] as const,
  );
  return Object.fromEntries(entries.map((entry) => (typeof entry === 'string' ? ['…', entry] : entry)));
}

function capString(text: string, room: { left: number }): string {
  const shown = cutText(text, Math.max(room.left, 0));
  room.left -= shown.length;
  return shown.length === text.length ? text : `${shown}… (${text.length - shown.length} more characters)`;
}

function capItems<Item, Capped>(
  items: readonly Item[],
  room: { left: number },
  capItem: (item: Item) => Capped,
): (Capped | string)[] {
  const capped: (Capped | string)[] = [];
  for (const [index, item] of items.entries()) {
    if (room.left <= 0) return [...capped, `(${items.length - index} more)`];
    capped.push(capItem(item));
  }
  return capped;
}
