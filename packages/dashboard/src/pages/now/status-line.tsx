import type { Runner } from '@croft/protocol';
import { computed } from '@preact/signals';
import { now } from '../../browser/clock.ts';
import { countSince } from '../../live/feed-row.ts';
import { feed } from '../../live/live-feed.ts';
import { Sparkline } from '../../parts/sparkline.tsx';
import { mayDo, session } from '../../server/session.ts';
import { useResource } from '../../server/use-resource.ts';
import { toCount } from '../../text/format-times-and-sizes.ts';

const slots = 20;
const slotMs = 60_000 / slots;

/** Calls of the last minute, in slots of three seconds. The feed is newest first, and changes ten times a second. */
const lastMinute = computed(() => {
  const rows = feed.value;
  const end = now.value;
  const before = Array.from({ length: slots + 1 }, (_, slot) =>
    slot === slots ? 0 : countSince(rows, end - (slots - slot) * slotMs),
  );
  return Array.from({ length: slots }, (_, slot) => (before[slot] ?? 0) - (before[slot + 1] ?? 0));
});

export function StatusLine() {
  const perMinute = lastMinute.value.reduce((sum, count) => sum + count, 0);
  const hasRunners = !session.value?.isOperator && mayDo('read');
  const runners = useResource<{ runners: readonly Runner[] }>(hasRunners ? '/v1/runners' : undefined).value.data
    ?.runners;
  const online = runners?.filter(({ state }) => state === 'online').length;
  return (
    <footer class="status-line">
      <span>
        {perMinute} calls/min{' '}
        <Sparkline values={lastMinute.value} slots={slots} label={`${perMinute} calls in the last minute`} />
      </span>
      {runners && runners.length > 0 && (
        <a href="/machines">
          {online} of {toCount(runners.length, 'runner')} online
        </a>
      )}
    </footer>
  );
}
