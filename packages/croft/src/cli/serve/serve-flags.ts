import type { Options } from '../command.ts';
import { workspaceOptions } from '../options/workspace-options.ts';
import { boundOptions } from './bound-options.ts';

export const serveFlags = {
  ...workspaceOptions,
  demo: {
    type: 'boolean',
    summary: 'serve a workspace named demo, kept in the data directory and made on first start',
  },
  host: { type: 'string', value: 'HOST', summary: 'address to listen on (127.0.0.1)' },
  port: { type: 'string', value: 'PORT', summary: 'port to listen on (7070); 0 takes a free one' },
  addr: { type: 'string', value: 'HOST:PORT', summary: 'address and port in one flag' },
  'allow-host': {
    type: 'string',
    multiple: true,
    value: 'NAME',
    summary: 'a name clients may call this server by; may be repeated',
  },
  data: { type: 'string', value: 'DIR', summary: 'the data directory of the server' },
  'database-url': {
    type: 'string',
    value: 'URL',
    summary: 'PostgreSQL for records (SQLite in the data directory)',
  },
  ...boundOptions,
  advertise: {
    type: 'string',
    value: 'URL',
    summary: 'where other servers of the same PostgreSQL reach this one; the address it listens on if left out',
  },
  'tls-cert': { type: 'string', value: 'FILE', summary: 'serve HTTPS with this certificate (PEM), with --tls-key' },
  'tls-key': { type: 'string', value: 'FILE', summary: 'the private key of the certificate (PEM)' },
  insecure: { type: 'boolean', summary: 'let runners of other machines connect without TLS; they need --insecure too' },
  'runner-grace': {
    type: 'string',
    value: 'SECONDS',
    summary: 'how long the server waits for a runner that is cut off (60)',
  },
  'runner-heartbeat': { type: 'string', value: 'SECONDS', summary: 'how often a runner must send a heartbeat (15)' },
  'approval-wait': { type: 'string', value: 'SECONDS', summary: 'how long a call waits for an approval (50)' },
  'approval-webhook': { type: 'string', value: 'URL', summary: 'called for every approval that is requested' },
} as const satisfies Options;
