import { once } from 'node:events';
import type { Socket } from 'node:net';
import * as tls from 'node:tls';
import { makeCertificate, openProxy, startTlsWeb } from './test-proxy.ts';

const certificate = makeCertificate('good.test', 'other.test', '127.0.0.1');
const names = { 'good.test': ['127.0.0.1'], 'other.test': ['127.0.0.1'] };
export const open = (port: number, more = {}) =>
  openProxy({ domains: [`good.test:${port}`], cidrs: [`127.0.0.0/8:${port}`], names, ...more });
export const startWeb = () => startTlsWeb(certificate, (request, response) => request.pipe(response));
export const connectCommand = (authority: string) => `CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n\r\n`;

/** Speaks TLS in an open tunnel. */
export function secure(socket: Socket, servername: string | undefined) {
  const client = tls.connect({
    socket,
    ca: certificate.cert,
    checkServerIdentity: () => undefined,
    ...(servername && { servername }),
  });
  client.on('error', () => {});
  return client;
}

export async function failureOf(client: tls.TLSSocket): Promise<string> {
  const [error] = (await once(client, 'error')) as [NodeJS.ErrnoException];
  return `${error.code} ${error.message}`;
}
