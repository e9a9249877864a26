import { cutText } from '../../lib/text/cut-text.ts';

/** Shortens an input to about `maxChars` characters of JSON. A note replaces each omitted part. */
export function capInput(input: unknown, maxChars: number): unknown {
  if ((JSON.stringify(input) ?? '').length <= maxChars) return input;
  return cap(input, { left: maxChars });
}

function cap(value: unknown, budget: { left: number }): unknown {
  if (typeof value === 'string') return capString(value, budget);
  budget.left -= 8;
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return capItems(value, budget, (item) => cap(item, budget));
  const entries = capItems(
    Object.entries(value),
    budget,
    ([key, item]) => [capString(key, budget), cap(item, budget)] as const,
  );
  return Object.fromEntries(entries.map((entry) => (typeof entry === 'string' ? ['…', entry] : entry)));
}

function capString(text: string, budget: { left: number }): string {
  const shown = cutText(text, Math.max(budget.left, 0));
  budget.left -= shown.length;
  return shown.length === text.length ? text : `${shown}… (${text.length - shown.length} more characters)`;
}

function capItems<Item, Capped>(
  items: readonly Item[],
  budget: { left: number },
  capItem: (item: Item) => Capped,
): (Capped | string)[] {
  const capped: (Capped | string)[] = [];
  for (const [index, item] of items.entries()) {
    if (budget.left <= 0) return [...capped, `(${items.length - index} more)`];
    capped.push(capItem(item));
  }
  return capped;
}
