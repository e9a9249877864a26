import type { LiveSandboxes } from '@croft/protocol';
import { useEffect, useState } from 'preact/hooks';
import { request, segment } from '../../server/request.ts';
import { mayDo } from '../../server/session.ts';
import { addReading, type Meter } from './sandbox-meters.ts';

type Meters = ReadonlyMap<string, readonly Meter[]>;

const roundMs = 2000;
/** Shortest time between two requests, however many sandboxes there are, because accounts have a rate limit. */
const perRequestMs = 150;

/** Reads the usage of the open sandboxes of each definition, every two seconds while the page is visible. */
export function useMeters(sandboxIds: readonly string[]): Meters {
  const [meters, setMeters] = useState<Meters>(new Map());
  const key = sandboxIds.join(' ');
  useEffect(() => {
    if (!mayDo('read')) return;
    const stopping = new AbortController();
    void readRounds(key.split(' ').filter(Boolean), stopping.signal, setMeters);
    return () => stopping.abort();
  }, [key]);
  return meters;
}

async function readRounds(ids: readonly string[], signal: AbortSignal, show: (meters: Meters) => void): Promise<void> {
  const meters = new Map<string, readonly Meter[]>();
  const earlier = new Map<string, LiveSandboxes>();
  while (!signal.aborted) {
    const startedAt = performance.now();
    for (const id of document.hidden ? [] : ids) await take(id);
    if (!signal.aborted) show(new Map(meters));
    await pause(Math.max(0, roundMs - (performance.now() - startedAt)));
  }

  async function take(id: string): Promise<void> {
    const live = signal.aborted ? undefined : await read(id, signal);
    if (!live) return;
    meters.set(id, addReading(meters.get(id) ?? [], earlier.get(id), live));
    earlier.set(id, live);
    if (ids.length > roundMs / perRequestMs) await pause(perRequestMs);
  }
}

/** A reading that fails is left out: the next one comes in a moment. */
async function read(id: string, signal: AbortSignal): Promise<LiveSandboxes | undefined> {
  return request<LiveSandboxes>('GET', `/v1/sandboxes/${segment(id)}/live`, { signal }).catch(() => undefined);
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
