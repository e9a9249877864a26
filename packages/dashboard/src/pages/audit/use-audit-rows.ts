import type { AuditRecord } from '@croft/protocol';
import { useEffect, useRef, useState } from 'preact/hooks';
import { type RequestError, request, toRequestError } from '../../server/request.ts';

interface AuditPage {
  readonly audit: readonly AuditRecord[];
  readonly next?: string;
}

type Filter = Readonly<Record<string, string | undefined>>;

const limit = 200;
/** Pages of a filtered list may be empty. After this many, no more are read until the person scrolls. */
const mostEmptyPages = 20;

/** Reads pages until one has rows, or the trail ends. */
async function readRows(filter: Filter, start: string | undefined): Promise<AuditPage> {
  let after = start;
  for (let pages = 1; ; pages++) {
    const query = { order: 'newest', limit, after, ...filter };
    const page = await request<AuditPage>('GET', '/v1/audit', { query });
    if (page.audit.length > 0 || page.next === undefined || pages === mostEmptyPages) return page;
    after = page.next;
  }
}

/** A reading that a change of the filter ends. */
interface Reading {
  after: string | undefined;
  isBusy: boolean;
}

/** Rows of the trail, newest first, page after page. */
export function useAuditRows(filter: Filter) {
  const key = JSON.stringify(filter);
  const [rows, setRows] = useState<readonly AuditRecord[]>([]);
  const [state, setState] = useState<'loading' | 'ready'>('loading');
  const [error, setError] = useState<RequestError | undefined>(undefined);
  const current = useRef<Reading | undefined>(undefined);

  const read = async (reading: Reading) => {
    if (reading.isBusy) return;
    reading.isBusy = true;
    setState('loading');
    try {
      const page = await readRows(filter, reading.after);
      if (current.current !== reading) return;
      reading.after = page.next;
      setRows((before) => [...before, ...page.audit]);
      setError(undefined);
    } catch (thrown) {
      if (current.current === reading) setError(toRequestError(thrown));
    }
    reading.isBusy = false;
    if (current.current === reading) setState('ready');
  };

  const reload = () => {
    current.current = { after: undefined, isBusy: false };
    setRows([]);
    void read(current.current);
  };
  const readMore = () => {
    if (current.current?.after !== undefined) void read(current.current);
  };
  useEffect(reload, [key]);
  return { rows, state, error, reload, readMore };
}
