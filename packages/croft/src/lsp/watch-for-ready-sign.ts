import type { ReadySign } from '../core/code/ports/language-server-definition.ts';

/** A server with such a sign that reports no work within this time has no work. */
const quietMs = 1500;
const maxWords = 200;

/** Watches the notifications of a server for the sign that it knows the whole project. */
export function createReadySignWatch(sign: ReadySign) {
  const { promise, resolve } = Promise.withResolvers<void>();
  const works = new Map<string, string>();
  let timer: NodeJS.Timeout | undefined;
  let rescan = Promise.withResolvers<void>();
  let isRescanning = false;
  if (sign.kind === 'always') resolve();
  const ripen = () => {
    clearTimeout(timer);
    if (sign.kind === 'progress' && works.size === 0) timer = setTimeout(resolve, quietMs).unref();
  };

  return {
    ready: promise,
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
    activity: (): string => [...works.values()].at(-1) ?? '',
    begin: ripen,
    stop: () => clearTimeout(timer),
    receive(method: string, params: unknown): void {
      const fields = (params ?? {}) as Readonly<Record<string, unknown>>;
      if (method === '$/progress') receiveProgress(fields);
      if (sign.kind === 'log' && method === 'window/logMessage' && sign.pattern.test(String(fields.message)))
        receiveLog();
      if (sign.kind === 'notification' && method === sign.method && isMeant(sign, fields)) resolve();
    },
  };

  function receiveLog(): void {
    resolve();
    endRescan();
  }

  function endRescan(): void {
    rescan.resolve();
    rescan = Promise.withResolvers();
    isRescanning = false;
  }

  function receiveProgress({ token, value }: Readonly<Record<string, unknown>>): void {
    const { kind, title, message, percentage } = (value ?? {}) as Readonly<Record<string, unknown>>;
    const key = String(token).slice(0, maxWords);
    if (kind === 'end') works.delete(key);
    else if (works.size < 100 || works.has(key)) works.set(key, toWords([title, message, toPercent(percentage)]));
    ripen();
  }
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
