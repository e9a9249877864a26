import { RunnerHello, RunnerHelloVersion, runnerLinkVersion } from '@croft/protocol';
import type { RawData, WebSocket } from 'ws';
import { parseJson } from '../../lib/text/parse-json.ts';
import { isLoopback } from '../transport/is-loopback.ts';
import { LinkRefusal } from './link-refusal.ts';

export interface RunnerConnectionAttempt {
  /** The token in the `Authorization` header of the upgrade request. */
  readonly token: string;
  /** The IP address of the other side. */
  readonly address: string;
  readonly isEncrypted: boolean;
}

/** Waits for the hello of a runner. Throws a `LinkRefusal` for anything else. */
export async function readHello(socket: WebSocket, withinMs: number): Promise<RunnerHello> {
  const first = Promise.withResolvers<RunnerHello>();
  const timer = setTimeout(() => first.reject(new LinkRefusal('INVALID', 'no hello came in time')), withinMs).unref();
  const onMessage = (data: RawData, isBinary: boolean) => {
    try {
      first.resolve(parseHello(data, isBinary));
    } catch (thrown) {
      first.reject(thrown);
    }
  };
  socket.once('message', onMessage);
  socket.once('close', () => first.reject(new LinkRefusal('INVALID', 'the connection was closed before the hello')));
  try {
    return await first.promise;
  } finally {
    clearTimeout(timer);
    socket.off('message', onMessage);
  }
}

function parseHello(data: RawData, isBinary: boolean): RunnerHello {
  const body = isBinary ? undefined : parseJson(data.toString());
  const { success, data: any } = RunnerHelloVersion.safeParse(body);
  if (!success) throw new LinkRefusal('INVALID', 'the first message must be a hello');
  if (any.version !== runnerLinkVersion) throw new LinkRefusal('VERSION', versionMessage(any.version));
  const hello = RunnerHello.safeParse(body);
  if (hello.success) return hello.data;
  const [issue] = hello.error.issues;
  throw new LinkRefusal('INVALID', `the hello is not valid at ${issue?.path.join('.')}: ${issue?.message}`);
}

function versionMessage(version: number): string {
  return `the runner speaks version ${version} of the protocol, the server version ${runnerLinkVersion}: use the same release of croft on both`;
}

/** Refuses a runner of another machine that connected without TLS: its token was sent in the clear. */
export function checkEncrypted({ isEncrypted, address }: RunnerConnectionAttempt, allowsInsecure: boolean): void {
  if (isEncrypted || allowsInsecure || isLoopback(address)) return;
  throw new LinkRefusal(
    'FORBIDDEN',
    'a runner on another machine connects by TLS (https); rotate its token, which was sent in the clear',
  );
}
