import type { AuditRecord } from '@croft/protocol';
import { useEffect, useRef, useState } from 'preact/hooks';
import { type RequestError, request, toRequestError } from '../../server/request.ts';

interface AuditPage {
  readonly audit: readonly AuditRecord[];
  readonly next?: string;
}

type Filter = Readonly<Record<string, string | undefined>>;

const limit = 200;
/** Pages of a filtered list may be empty. After so many, the person scrolls on. */
const mostEmptyPages = 20;

/** Rows of the trail, newest first, page after page. */
export function useAuditRows(filter: Filter) {
  const key = JSON.stringify(filter);
  const [rows, setRows] = useState<readonly AuditRecord[]>([]);
  const [state, setState] = useState<'loading' | 'ready'>('loading');
  const [error, setError] = useState<RequestError | undefined>(undefined);
  const position = useRef<{ after: string | undefined; isEnd: boolean; isReading: boolean; turn: number }>({
    ...{ after: undefined, isEnd: false, isReading: false, turn: 0 },
  });

  const read = async () => {
    const at = position.current;
    if (at.isEnd || at.isReading) return;
    at.isReading = true;
    const { turn } = at;
    setState('loading');
    try {
      for (let pages = 0, found = 0; found === 0 && !at.isEnd && pages < mostEmptyPages; pages++) {
        const query = { order: 'newest', limit, after: at.after, ...filter };
        const page = await request<AuditPage>('GET', '/v1/audit', { query });
        if (position.current.turn !== turn) return;
        at.after = page.next;
        at.isEnd = page.next === undefined;
        found = page.audit.length;
        setRows((before) => [...before, ...page.audit]);
      }
      setError(undefined);
    } catch (thrown) {
      if (position.current.turn === turn) setError(toRequestError(thrown));
    } finally {
      at.isReading = false;
      if (position.current.turn === turn) setState('ready');
    }
  };

  const reload = () => {
    position.current = { after: undefined, isEnd: false, isReading: false, turn: position.current.turn + 1 };
    setRows([]);
    void read();
  };
  useEffect(reload, [key]);
  return { rows, state, error, reload, readMore: () => void read() };
}
