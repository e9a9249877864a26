import { createClient } from '@croft/sdk';

/** The page works without TLS only under this name: the cookie of 127.0.0.1 goes to every program of the machine. */
const pageHost = 'croft.localhost';

/** Makes a link that opens the page of a server signed in, once, within a minute. */
export async function makeSignInLink(server: string, token: string): Promise<string> {
  const { path } = await createClient({ baseUrl: server, token }).session.link();
  return new URL(path, toPageAddress(server)).href;
}

/** Where browsers open the page of a server. */
export function toPageAddress(server: string): string {
  const address = new URL(server);
  if (address.protocol === 'http:' && isThisMachine(address.hostname)) address.hostname = pageHost;
  return address.href;
}

function isThisMachine(host: string): boolean {
  return ['localhost', '0.0.0.0', '[::]', '[::1]'].includes(host) || /^127(?:\.\d+){3}$/.test(host);
}
