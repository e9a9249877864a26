import { signal } from '@preact/signals';

export const politeNews = signal('');
export const urgentNews = signal('');

/** Says something to a screen reader. Only a new approval interrupts. */
export function announce(words: string, { isUrgent = false } = {}): void {
  const target = isUrgent ? urgentNews : politeNews;
  // The same words again are news too.
  target.value = target.peek() === words ? `${words}\u00a0` : words;
}
