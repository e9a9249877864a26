import type { AccountEvent } from '@croft/protocol';

export type Followed = AccountEvent & { readonly id?: string };

/** Follows a stream of server-sent events until it is disposed of. `lastId` is what a browser would send. */
export async function followEvents(url: string, headers: Readonly<Record<string, string>>) {
  const stop = new AbortController();
  const response = await fetch(url, { signal: stop.signal, headers });
  const events: Followed[] = [];
  const seen = { lastId: '' };
  const ended = read(response, events, seen).catch(() => 'cut' as const);
  return {
    status: response.status,
    events,
    ended,
    lastId: () => seen.lastId,
    /** The actions of the rows that came, in order. */
    rows: () => events.flatMap((event) => (event.type === 'audit' ? [event.record] : [])),
    [Symbol.dispose]: () => stop.abort(),
  };
}

async function read(response: Response, events: Followed[], seen: { lastId: string }): Promise<'ended'> {
  let text = '';
  for await (const chunk of response.body ?? []) {
    text += Buffer.from(chunk).toString();
    const parts = text.split('\n\n');
    text = parts.pop() ?? '';
    for (const part of parts) {
      const id = /^id: (.*)$/m.exec(part)?.[1];
      const data = /^data: (.*)$/m.exec(part)?.[1];
      seen.lastId = id ?? seen.lastId;
      if (data !== undefined) events.push({ ...JSON.parse(data), ...(id !== undefined && { id }) });
    }
  }
  return 'ended';
}
