import type { ComponentChildren } from 'preact';
import { matchPath } from '../browser/match-path.ts';
import { AgentPage } from '../pages/agents/agent-page.tsx';
import { AgentsPage } from '../pages/agents/agents-page.tsx';
import { ApprovalsPage } from '../pages/approvals/approvals-page.tsx';
import { AuditPage } from '../pages/audit/audit-page.tsx';
import { KeysPage } from '../pages/keys/keys-page.tsx';
import { MachinesPage } from '../pages/machines/machines-page.tsx';
import { NowPage } from '../pages/now/now-page.tsx';
import { TerminalPage } from '../pages/terminal/terminal-page.tsx';
import { WorkspacePage } from '../pages/workspaces/workspace-page.tsx';
import { WorkspacesPage } from '../pages/workspaces/workspaces-page.tsx';
import { Empty } from '../parts/loading-states.tsx';
import { mayDo, session } from '../server/session.ts';

interface Page {
  readonly title: string;
  readonly view: ComponentChildren;
}

/** Every page, by its address. */
const pages: Readonly<Record<string, (params: Readonly<Record<string, string>>) => Page>> = {
  '/': () => ({ title: 'Now', view: <NowPage /> }),
  '/approvals': () => ({ title: 'Approvals', view: <ApprovalsPage /> }),
  '/approvals/:id': ({ id = '' }) => ({ title: 'Approvals', view: <ApprovalsPage id={id} /> }),
  '/workspaces': () => ({ title: 'Workspaces', view: <WorkspacesPage /> }),
  '/workspaces/:id': ({ id = '' }) => ({ title: id, view: <WorkspacePage id={id} tab="files" /> }),
  '/workspaces/:id/files': ({ id = '' }) => ({ title: 'Files', view: <WorkspacePage id={id} tab="files" /> }),
  '/workspaces/:id/history': ({ id = '' }) => ({ title: 'History', view: <WorkspacePage id={id} tab="history" /> }),
  '/workspaces/:id/snapshots': ({ id = '' }) => ({
    title: 'Snapshots',
    view: <WorkspacePage id={id} tab="snapshots" />,
  }),
  '/agents': () => ({ title: 'Agents', view: <AgentsPage /> }),
  '/agents/:id': ({ id = '' }) => ({ title: 'Agent', view: <AgentPage id={id} tab="calls" /> }),
  '/agents/:id/calls': ({ id = '' }) => ({ title: 'Calls of an agent', view: <AgentPage id={id} tab="calls" /> }),
  '/agents/:id/fence': ({ id = '' }) => ({ title: 'Fence', view: <AgentPage id={id} tab="fence" /> }),
  '/agents/:id/sessions': ({ id = '' }) => ({ title: 'Sessions', view: <AgentPage id={id} tab="sessions" /> }),
  '/machines': () => ({ title: 'Machines', view: <MachinesPage /> }),
  '/audit': () => ({ title: 'Audit', view: <AuditPage /> }),
  '/keys': () => ({ title: 'Keys', view: <KeysPage /> }),
  '/terminal': () => ({ title: 'Terminal', view: <TerminalPage /> }),
};

/** These show something to a key that may not read, or say themselves what they need. */
const withoutRead = /^\/(?:approvals(?:\/.*)?|terminal)?$/;

function NotForThisKey() {
  return (
    <Empty>
      <h1>This key may not see that.</h1>
      <p>
        It may {(session.value?.scopes ?? []).join(', ')}. Sign in with a key that may <strong>read</strong>.
      </p>
    </Empty>
  );
}

export function findPage(path: string): Page {
  for (const [pattern, toPage] of Object.entries(pages)) {
    const params = matchPath(pattern, path);
    if (!params) continue;
    const page = toPage(params);
    return mayDo('read') || withoutRead.test(path) ? page : { ...page, view: <NotForThisKey /> };
  }
  const view = (
    <Empty>
      <h1>There is nothing at this address.</h1>
      <a class="button" href="/">
        Go to Now
      </a>
    </Empty>
  );
  return { title: 'Not found', view };
}
