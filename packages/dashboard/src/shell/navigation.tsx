import { path } from '../browser/router.ts';
import { nextTheme, setTheme, theme } from '../browser/theme.ts';
import { connection } from '../live/event-stream.ts';
import { pendingApprovals } from '../live/pending-approvals.ts';
import { Icon, type IconName } from '../parts/icon.tsx';
import { session, signOut } from '../server/session.ts';
import { isPaletteOpen } from './command-palette.tsx';
import { isHelpOpen } from './shortcuts-help.tsx';

interface Entry {
  readonly href: string;
  readonly name: string;
  readonly icon: IconName;
  /** On a phone, the entry is in the menu. */
  readonly isLater?: true;
}

const entries: readonly Entry[] = [
  { href: '/', name: 'Now', icon: 'now' },
  { href: '/approvals', name: 'Approvals', icon: 'check' },
  { href: '/workspaces', name: 'Workspaces', icon: 'folder' },
  { href: '/agents', name: 'Agents', icon: 'agent' },
  { href: '/machines', name: 'Machines', icon: 'terminal', isLater: true },
  { href: '/audit', name: 'Audit', icon: 'history', isLater: true },
];

export function Navigation() {
  return (
    <header class="top">
      <a class="brand" href="/" aria-label="Croft">
        <svg viewBox="0 0 16 16" width="18" height="18" aria-hidden="true">
          <path d="M10 2H4a2 2 0 0 0-2 2v8a2 2 0 0 0 2 2h8a2 2 0 0 0 2-2V6M6 7v3M10 7v3" />
        </svg>
        <span>Croft</span>
      </a>
      <nav class="tabs" aria-label="Pages">
        {entries.map((entry) => (
          <NavigationLink key={entry.href} {...entry} />
        ))}
      </nav>
      <div class="top-end">
        <LiveMark />
        <button
          type="button"
          class="button search-button"
          onClick={() => {
            isPaletteOpen.value = true;
          }}
        >
          <Icon name="search" />
          <span>Find</span> <kbd>Ctrl K</kbd>
        </button>
        <AccountMenu />
      </div>
    </header>
  );
}

function NavigationLink({ href, name, icon, isLater }: Entry) {
  const isHere = href === '/' ? path.value === '/' : path.value.startsWith(href);
  const waiting = href === '/approvals' ? pendingApprovals.value.length : 0;
  return (
    <a href={href} class={isLater ? 'tab tab-later' : 'tab'} aria-current={isHere ? 'page' : undefined}>
      <Icon name={icon} />
      <span>{name}</span>
      {waiting > 0 && (
        <span class="badge">
          {waiting}
          <span class="visually-hidden"> waiting</span>
        </span>
      )}
    </a>
  );
}

function LiveMark() {
  const state = connection.value;
  const words = state === 'live' ? 'live' : state === 'away' ? 'offline' : 'connecting';
  return (
    <span class={`live live-${state}`} role="status">
      <span class="live-dot" aria-hidden="true" />
      <span class="live-words">{words}</span>
    </span>
  );
}

function AccountMenu() {
  const who = session.value;
  const close = (event: Event) => (event.currentTarget as Element).closest('details')?.removeAttribute('open');
  return (
    <details
      class="menu"
      onKeyDown={(event) => event.key === 'Escape' && event.currentTarget.removeAttribute('open')}
      onBlur={(event) => {
        if (!event.currentTarget.contains(event.relatedTarget as Node | null))
          event.currentTarget.removeAttribute('open');
      }}
    >
      <summary aria-label={`Account ${who?.username}`}>
        <span class="who">{who?.username}</span>
        <Icon name="down" />
      </summary>
      <div class="menu-items">
        {entries
          .filter(({ isLater }) => isLater)
          .map(({ href, name }) => (
            <a class="phone-only" key={href} href={href} onClick={close}>
              {name}
            </a>
          ))}
        <a href="/terminal" onClick={close}>
          Terminal
        </a>
        {!who?.isOperator && (
          <a href="/keys" onClick={close}>
            Keys
          </a>
        )}
        <a href="/?start=1" onClick={close}>
          First steps
        </a>
        <button type="button" onClick={() => setTheme(nextTheme())}>
          Theme: {theme.value}
        </button>
        <button
          type="button"
          class="no-phone"
          onClick={(event) => {
            close(event);
            isHelpOpen.value = true;
          }}
        >
          Keyboard <kbd>?</kbd>
        </button>
        <button type="button" onClick={() => void signOut()}>
          Sign out
        </button>
        <p class="menu-note">Croft {who?.version}</p>
      </div>
    </details>
  );
}
