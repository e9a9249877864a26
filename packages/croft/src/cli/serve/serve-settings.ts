import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import { errorMessage } from '../../lib/error-message.ts';
import { goQuote } from '../../lib/text/go-quote.ts';
import { UsageError } from '../../lib/usage-error.ts';
import type { Values } from '../command.ts';
import type { serveFlags } from './serve-flags.ts';

type ServeValues = Values<typeof serveFlags>;

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

/** Reads certificate and key. Returns nothing if no flag names them. */
export function toTls({ 'tls-cert': cert, 'tls-key': key }: ServeValues) {
  if (cert === undefined && key === undefined) return undefined;
  if (cert === undefined || key === undefined) throw new UsageError('--tls-cert and --tls-key go together');
  const tls = { cert: readPem('tls-cert', cert), key: readPem('tls-key', key) };
  mustBeOne('tls-cert', cert, { cert: tls.cert });
  mustBeOne('tls-key', key, { key: tls.key });
  mustBeOne('tls-key', key, tls);
  return tls;
}

function readPem(flag: string, file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (thrown) {
    throw new UsageError(`--${flag} ${file} cannot be read: ${errorMessage(thrown)}`);
  }
}

/** Checks the files before the server listens. OpenSSL words the reason. */
function mustBeOne(flag: string, file: string, options: { readonly cert?: Buffer; readonly key?: Buffer }): void {
  try {
    createSecureContext(options);
  } catch (thrown) {
    const words = errorMessage(thrown);
    const isOther = options.cert !== undefined && options.key !== undefined;
    const wanted = isOther
      ? 'is not the key of the certificate'
      : `is no ${flag === 'tls-cert' ? 'certificate' : 'private key'} in PEM`;
    throw new UsageError(`--${flag} ${file} ${wanted} (${words})`);
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
  // Node would listen on every address.
  if (host === '') throw new UsageError('--host takes a name or an address, not nothing');
  return { host: (host ?? (addrHost || '127.0.0.1')).replace(/^\[(.*)\]$/, '$1'), port: Number(written) };
}

/**
 * Returns the origin at which other servers reach this one. Throws for anything but an `http` or `https` URL without a
 * path.
 */
export function toAdvertised({ advertise }: Pick<ServeValues, 'advertise'>): string | undefined {
  if (advertise === undefined) return undefined;
  const url = URL.canParse(advertise) ? new URL(advertise) : undefined;
  if (url && /^https?:$/.test(url.protocol) && url.pathname === '/' && url.search === '') return url.origin;
  throw new UsageError(`--advertise takes an address such as http://10.0.0.5:7070, not ${goQuote(advertise)}`);
}

/** Rejects an invalid host name: no client could send it, and no Host header may match it by accident. */
export function toHostNames({ 'allow-host': names = [] }: ServeValues): readonly string[] {
  const wrong = names.find((name) => !/^[\w.-]+(?::\d+)?$/.test(name));
  if (wrong !== undefined)
    throw new UsageError(`--allow-host takes a name such as croft.example, not ${wrong || 'nothing'}`);
  return names;
}
