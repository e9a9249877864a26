import type { ReadySign } from '../core/code/ports/language-server-definition.ts';

/** A server with such a sign that reports no work within this time has no work. */
const quietMs = 1500;
const steadyMs = 300;
const maxWords = 200;

/** Watches the notifications of a server for the sign that it knows the whole project. */
export function createReadySignWatch(sign: ReadySign) {
  let ready = Promise.withResolvers<void>();
  const resolve = () => ready.resolve();
  const works = createWorks();
  let timer: NodeJS.Timeout | undefined;
  let rescan = Promise.withResolvers<void>();
  let isRescanning = false;
  if (sign.kind === 'always') resolve();
  const ripen = () => {
    clearTimeout(timer);
    if (sign.kind === 'progress' && works.count() === 0) timer = setTimeout(resolve, quietMs).unref();
  };

  return {
    ready: (): Promise<void> => ready.promise,
    /** The server is told of another project. A server with a notification says anew that it is ready. */
    expectAgain(): void {
      if (sign.kind !== 'notification') return;
      clearTimeout(timer);
      ready = Promise.withResolvers();
    },
    /** Files were told that the server may not know. Some servers list their files again, and then say so again. */
    expectRescan(): void {
      if (sign.kind === 'log' && sign.isRepeated) isRescanning = true;
    },
    /** Waits for that, once: a server that does not say so in time has nothing to list. */
    async rescanned(timeoutMs: number): Promise<void> {
      if (!isRescanning) return;
      const timeout = setTimeout(endRescan, timeoutMs);
      await rescan.promise;
      clearTimeout(timeout);
    },
    /** The current work of the server, in its own words; empty if it does not report any. */
    activity: works.last,
    /** Why the server does not know the whole project although it has no work left; empty if it does. */
    trouble: works.lastTrouble,
    begin: ripen,
    stop: () => clearTimeout(timer),
    receive(method: string, params: unknown): void {
      const fields = (params ?? {}) as Readonly<Record<string, unknown>>;
      if (method === '$/progress') {
        works.receive(fields);
        ripen();
      }
      if (sign.kind === 'log' && method === 'window/logMessage' && sign.pattern.test(String(fields.message)))
        receiveLog();
      if (sign.kind === 'notification' && method === sign.method) receiveState(isMeant(sign, fields));
    },
  };

  /** A server that is told of a project while it gets ready takes its word back at once. */
  function receiveState(isReady: boolean): void {
    clearTimeout(timer);
    if (isReady) timer = setTimeout(resolve, steadyMs).unref();
  }

  function receiveLog(): void {
    resolve();
    endRescan();
  }

  function endRescan(): void {
    rescan.resolve();
    rescan = Promise.withResolvers();
    isRescanning = false;
  }
}

/** The work in progress that a server reports, in its own words. */
function createWorks() {
  const works = new Map<string, string>();
  /** Work without an end: gopls shows so that it cannot load the project. */
  const troubles = new Map<string, string>();

  return {
    count: () => works.size,
    last: (): string => [...works.values()].at(-1) ?? '',
    lastTrouble: (): string => [...troubles.values()].at(-1) ?? '',
    receive({ token, value }: Readonly<Record<string, unknown>>): void {
      const { kind, title, message, percentage } = (value ?? {}) as Readonly<Record<string, unknown>>;
      const key = String(token).slice(0, maxWords);
      const kept = troubles.has(key) || (kind === 'begin' && /^Error\b/.test(String(title))) ? troubles : works;
      if (kind === 'end') kept.delete(key);
      else if (kept.size < 100 || kept.has(key)) kept.set(key, toWords([title, message, toPercent(percentage)]));
    },
  };
}

function isMeant(
  { field, value }: { field?: string; value?: unknown },
  params: Readonly<Record<string, unknown>>,
): boolean {
  return field === undefined || params[field] === value;
}

function toPercent(percentage: unknown): string | undefined {
  return typeof percentage === 'number' ? `${Math.round(percentage)} %` : undefined;
}

function toWords(parts: readonly unknown[]): string {
  return parts
    .filter((part) => typeof part === 'string')
    .join(' ')
    .slice(0, maxWords);
}
