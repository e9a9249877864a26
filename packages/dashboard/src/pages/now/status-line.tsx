import type { Runner } from '@croft/protocol';
import { computed } from '@preact/signals';
import { now } from '../../browser/clock.ts';
import { feed } from '../../live/live-feed.ts';
import { Sparkline } from '../../parts/sparkline.tsx';
import { mayDo, session } from '../../server/session.ts';
import { useResource } from '../../server/use-resource.ts';
import { toCount } from '../../text/format-times-and-sizes.ts';

const slots = 20;
const slotMs = 60_000 / slots;

/** Calls of the last minute, in slots of three seconds. */
const lastMinute = computed(() => {
  const end = now.value;
  const counts: number[] = new Array(slots).fill(0);
  for (const { at } of feed.value) {
    const slot = slots - 1 - Math.floor((end - Date.parse(at)) / slotMs);
    if (slot < 0) break;
    const index = Math.min(slot, slots - 1);
    counts[index] = (counts[index] ?? 0) + 1;
  }
  return counts;
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
