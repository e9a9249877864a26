import { readFileSync } from 'node:fs';
import { UsageError } from '../../lib/usage-error.ts';
import type { Values } from '../command.ts';
import type { serveOptions } from './serve-options.ts';

type ServeValues = Values<typeof serveOptions>;

export function toRunnerSettings(values: ServeValues) {
  return {
    allowsInsecure: values.insecure ?? false,
    graceMs: toMs('runner-grace', values['runner-grace'] ?? '60'),
    heartbeatMs: toMs('runner-heartbeat', values['runner-heartbeat'] ?? '15'),
  };
}

function toMs(flag: string, seconds: string): number {
  if (!/^\d{1,4}(?:\.\d{1,3})?$/.test(seconds) || Number(seconds) === 0)
    throw new UsageError(`--${flag} takes seconds, not ${seconds}`);
  return Number(seconds) * 1000;
}

/** From the files of a certificate, or nothing where none is named. */
export function toTls({ 'tls-cert': cert, 'tls-key': key }: ServeValues) {
  if (cert === undefined && key === undefined) return undefined;
  if (cert === undefined || key === undefined) throw new UsageError('--tls-cert and --tls-key go together');
  try {
    return { cert: readFileSync(cert), key: readFileSync(key) };
  } catch (thrown) {
    throw new UsageError(`the certificate cannot be read: ${thrown instanceof Error ? thrown.message : thrown}`);
  }
}

export function toWait(seconds: string | undefined): number | undefined {
  if (seconds === undefined) return undefined;
  if (!/^\d{1,4}$/.test(seconds)) throw new UsageError(`--approval-wait takes seconds, not ${seconds}`);
  return Number(seconds) * 1000;
}

export function toAddress({ host, port, addr }: ServeValues) {
  const [, addrHost, addrPort] = /^(.*):(\d+)$/.exec(addr ?? '') ?? [];
  if (addr !== undefined && addrPort === undefined) throw new UsageError(`--addr takes HOST:PORT, not ${addr}`);
  const written = port ?? addrPort ?? '7070';
  if (!/^\d{1,5}$/.test(written) || Number(written) > 65_535)
    throw new UsageError(`--port takes 0 to 65535, not ${written || 'nothing'}`);
  // Node takes it for every address there is.
  if (host === '') throw new UsageError('--host takes a name or an address, not nothing');
  return { host: (host ?? (addrHost || '127.0.0.1')).replace(/^\[(.*)\]$/, '$1'), port: Number(written) };
}

/** What is no name would never be one that a client says, and nothing that is read from a Host header may match it. */
export function toHostNames({ 'allow-host': names = [] }: ServeValues): readonly string[] {
  const wrong = names.find((name) => !/^[\w.-]+(?::\d+)?$/.test(name));
  if (wrong !== undefined)
    throw new UsageError(`--allow-host takes a name such as croft.example, not ${wrong || 'nothing'}`);
  return names;
}
