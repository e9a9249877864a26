import { useEffect, useRef } from 'preact/hooks';
import { navigate, path } from '../browser/router.ts';
import { listenToKeys, useShortcuts } from '../browser/shortcuts.ts';
import { connection, lastLiveAt } from '../live/event-stream.ts';
import { startLive, stopLive } from '../live/live-feed.ts';
import { pendingApprovals, useApprovalNews } from '../live/pending-approvals.ts';
import { useNames } from '../live/record-names.ts';
import { request } from '../server/request.ts';
import { session, sessionState } from '../server/session.ts';
import { toClock } from '../text/format-times-and-sizes.ts';
import { Announcer } from './announcer.tsx';
import { isPaletteOpen, Palette } from './command-palette.tsx';
import { Navigation } from './navigation.tsx';
import { findPage } from './pages.tsx';
import { isHelpOpen, KeysHelp } from './shortcuts-help.tsx';
import { SignIn } from './sign-in.tsx';

/** Everything around a page: who is signed in, where to go, and whether the server is there. */
export function Shell() {
  const state = sessionState.value;
  useEffect(listenToKeys, []);
  if (state.kind === 'unknown') return null;
  return (
    <>
      {state.kind === 'in' ? <SignedInShell key={state.session.accountId} /> : <SignIn error={state.error} />}
      <Announcer />
    </>
  );
}

function SignedInShell() {
  const who = session.value;
  useEffect(() => {
    // A stream ends for good when the session does, and the answer to this says so.
    if (who) startLive(who, () => void request('GET', '/v1/session').catch(() => {}));
    return stopLive;
  }, [who]);
  useNames();
  useApprovalNews();
  useShortcuts({
    'g n': () => navigate('/'),
    'g a': () => navigate('/approvals'),
    'g w': () => navigate('/workspaces'),
    'g g': () => navigate('/agents'),
    'g m': () => navigate('/machines'),
    'g u': () => navigate('/audit'),
    'ctrl k': () => {
      isPaletteOpen.value = true;
    },
    '?': () => {
      isHelpOpen.value = true;
    },
    '/': () => document.querySelector<HTMLInputElement>('input[type=search]')?.focus(),
  });
  return (
    <div class="shell">
      <a class="skip" href="#main">
        Skip to the page
      </a>
      <Navigation />
      <OfflineBanner />
      <CurrentPage />
      {isPaletteOpen.value && <Palette />}
      {isHelpOpen.value && <KeysHelp />}
    </div>
  );
}

function CurrentPage() {
  const main = useRef<HTMLElement>(null);
  const shown = path.value;
  const before = useRef(shown);
  const { title, view } = findPage(shown);
  const waiting = pendingApprovals.value.length;
  useEffect(() => {
    document.title = `${waiting > 0 ? `(${waiting}) ` : ''}${title === 'Now' ? 'Croft' : `${title} · Croft`}`;
  }, [title, waiting]);
  useEffect(() => {
    // A dialog that has led here may still be open, and keeps the focus.
    if (before.current !== shown) requestAnimationFrame(() => main.current?.focus({ preventScroll: true }));
    before.current = shown;
  }, [shown]);
  return (
    <main id="main" tabIndex={-1} ref={main}>
      {view}
    </main>
  );
}

function OfflineBanner() {
  if (connection.value !== 'away') return null;
  return (
    <div class="banner" role="status">
      <strong>The server does not answer.</strong> Everything here is from {toClock(lastLiveAt.value)}; nothing can be
      decided until it is back. The page tries again by itself.
    </div>
  );
}
