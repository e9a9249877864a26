import type { Outcome } from '../live/feed-row.ts';

const marks: Readonly<Record<Outcome, readonly [sign: string, words: string]>> = {
  running: ['◌', 'running'],
  ran: ['✓', 'ran'],
  failed: ['✗', 'failed'],
  asks: ['?', 'waits for a person'],
  denied: ['–', 'denied'],
  violation: ['⊘', 'refused by the fence'],
  change: ['●', 'changed by a person'],
};

/** A sign and a colour, never a colour alone. */
export function OutcomeMark({ outcome }: { readonly outcome: Outcome }) {
  const [sign, words] = marks[outcome];
  return (
    <span class={`mark mark-${outcome}`} role="img" aria-label={words} title={words}>
      {sign}
    </span>
  );
}

export function outcomeWords(outcome: Outcome): string {
  return marks[outcome][1];
}
