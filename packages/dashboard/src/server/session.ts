import type { SignedIn } from '@croft/protocol';
import { computed, signal } from '@preact/signals';
import { type RequestError, request, signedOut, toRequestError } from './request.ts';
import { forgetAll } from './use-resource.ts';

type SessionState =
  | { readonly kind: 'unknown' }
  | { readonly kind: 'out'; readonly error?: RequestError | undefined }
  | { readonly kind: 'in'; readonly session: SignedIn };

interface SessionAnswer {
  readonly session: SignedIn;
}

const state = signal<SessionState>({ kind: 'unknown' });

export const sessionState = computed(() => state.value);

/** The signed-in person. Pages are shown only while there is one. */
export const session = computed(() => (state.value.kind === 'in' ? state.value.session : undefined));

export function mayDo(scope: SignedIn['scopes'][number]): boolean {
  const scopes = session.value?.scopes ?? [];
  return scopes.includes('*') || scopes.includes(scope);
}

/** Signs in with a key, the operator's token, or the code of a sign-in link. Only the server keeps the session. */
export async function signIn(secret: string): Promise<void> {
  try {
    const answer = await request<SessionAnswer>('POST', '/v1/session', {
      headers: { authorization: `Bearer ${secret}` },
    });
    forgetAll();
    state.value = { kind: 'in', session: answer.session };
  } catch (thrown) {
    state.value = { kind: 'out', error: toRefusedKey(toRequestError(thrown), secret) };
  }
}

/** The server speaks to programs. */
function toRefusedKey(error: RequestError, secret: string): RequestError {
  if (error.status !== 401) return error;
  const isLink = secret.startsWith('once_');
  return error.inWords(
    isLink ? 'This link has signed somebody in, or is older than a minute.' : 'This key opens no account here.',
    isLink
      ? 'On the machine of the server, croft open makes another link.'
      : 'Look whether it is whole: it begins with croft_. It may be revoked or expired; then ask for another.',
  );
}

function toEndedSession(error: RequestError): RequestError {
  return error.inWords(
    'Your session has ended.',
    'Sign in again. A session ends after 12 hours without use, after seven days, and with the key that began it.',
  );
}

export async function signOut(): Promise<void> {
  await request('DELETE', '/v1/session').catch(() => {});
  forgetAll();
  state.value = { kind: 'out' };
}

/** Finds out who is signed in. The code of a sign-in link leaves the address at once, so that no history keeps it. */
export async function startSession(): Promise<void> {
  signedOut.subscribe((error) => {
    if (error && state.peek().kind === 'in') state.value = { kind: 'out', error: toEndedSession(error) };
  });
  const [, once] = /^#once=([\w-]+)$/.exec(location.hash) ?? [];
  if (once !== undefined) {
    history.replaceState(null, '', location.pathname + location.search);
    return signIn(once);
  }
  return readSession();
}

/** Reads the session. Asks again while the server does not answer. */
async function readSession(): Promise<void> {
  try {
    const answer = await request<SessionAnswer>('GET', '/v1/session');
    state.value = { kind: 'in', session: answer.session };
  } catch (thrown) {
    const error = toRequestError(thrown);
    if (error.status === 401) state.value = { kind: 'out' };
    else {
      state.value = { kind: 'out', error };
      if (error.status === 0 || error.status >= 500) setTimeout(() => void readSession(), 2000);
    }
  }
}

/**
 * Plain HTTP works at `croft.localhost` alone: browsers send a cookie of 127.0.0.1 to every program of this machine.
 * Returns where to go instead.
 */
export function findOwnHost({ protocol, hostname, port, pathname, search, hash }: Location): string | undefined {
  const isLoopback = ['localhost', '127.0.0.1', '[::1]'].includes(hostname);
  if (protocol !== 'http:' || !isLoopback) return undefined;
  return `http://croft.localhost${port === '' ? '' : `:${port}`}${pathname}${search}${hash}`;
}
