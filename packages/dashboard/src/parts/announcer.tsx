import { signal } from '@preact/signals';

const polite = signal('');
const assertive = signal('');

/** Says something to a screen reader. Only a new approval interrupts. */
export function announce(words: string, { isUrgent = false } = {}): void {
  const target = isUrgent ? assertive : polite;
  // The same words again are news too.
  target.value = target.peek() === words ? `${words}\u00a0` : words;
}

export function Announcer() {
  return (
    <div class="visually-hidden">
      <div aria-live="polite">{polite.value}</div>
      <div aria-live="assertive">{assertive.value}</div>
    </div>
  );
}
