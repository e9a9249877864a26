import { notFound } from '../../core/accounts/access/registry-errors.ts';
import type { Registry } from '../../core/accounts/ports/registry.ts';
import type { AttachedWorkspace } from '../../core/accounts/surface/resolve-surface.ts';
import { isInBucket, isOnRunner } from '../../core/accounts/surface/workspace-location.ts';
import { chooseRunner } from '../../core/runners/choose-runner.ts';
import type { RunnerChoice } from '../../core/runners/runner.ts';
import type { TerminalOwner } from '../../core/terminals/terminals.ts';
import type { OpenAgent } from '../agents/open-agent.ts';
import type { Fleet } from '../fleet/fleet.ts';
import type { Holding } from './holding-server.ts';
import type { LeaseSubject, Leases } from './leases.ts';
import type { Membership } from './membership.ts';
import type { RunnerLinks } from './runner-links.ts';

interface HolderOptions {
  readonly membership: Membership;
  readonly leases: Leases;
  readonly runnerLinks: RunnerLinks;
  readonly fleet: Pick<Fleet, 'candidates'>;
  readonly registry: Registry;
  readonly openAgent: OpenAgent;
  /** The id of this server's data directory. */
  readonly directory: string;
}

/** Why a workspace is served by a certain server. */
type Anchor =
  | { readonly kind: 'directory'; readonly id: string | undefined }
  | { readonly kind: 'runner'; readonly accountId: string; readonly name: string }
  | { readonly kind: 'any-runner'; readonly accountId: string; readonly choice: RunnerChoice }
  | { readonly kind: 'lease'; readonly subject: LeaseSubject };

interface AgentRequest {
  readonly accountId: string;
  readonly agentId: string;
  readonly asOf?: number | undefined;
}

export type HolderFinder = ReturnType<typeof createHolderFinder>;

/** Finds the server that serves an agent or a workspace. `isFresh`: nothing that was learned before counts. */
export function createHolderFinder(options: HolderOptions) {
  const { membership, leases, runnerLinks, fleet, registry, openAgent, directory } = options;
  const here: Holding = { kind: 'here', key: '', epoch: 0 };

  return {
    /** All calls of an agent go to one server. A workspace that only one server can serve decides, else the first one. */
    async ofAgent({ accountId, agentId, asOf }: AgentRequest, isFresh: boolean): Promise<Holding> {
      const { surface } = await openAgent(accountId, agentId, asOf);
      const anchors = surface.workspaces.filter(({ reads }) => reads !== 'direct').map(toAnchor);
      const first = anchors.find(({ kind }) => kind !== 'lease') ?? anchors[0];
      return holderOf(first ?? { kind: 'lease', subject: { accountId, agentId } }, isFresh);
    },
    async ofWorkspace(accountId: string, workspaceId: string, isFresh: boolean): Promise<Holding> {
      const record = await registry.workspaces.open(accountId, workspaceId);
      if (!record) throw notFound('Workspace');
      return holderOf(toAnchor({ name: '', record, reads: 'mount' }), isFresh);
    },
    /**
     * Finds the server for a person's terminal. An unknown sandbox or workspace is reported where the terminal opens.
     */
    async ofTerminal({ accountId, sandboxId, workspaceId }: TerminalOwner, isFresh: boolean): Promise<Holding> {
      const [sandbox, record] = await Promise.all([
        registry.sandboxes.open(accountId, sandboxId),
        registry.workspaces.open(accountId, workspaceId),
      ]);
      if (!sandbox || !record) return here;
      return holderOf(toAnchor({ name: '', record, sandbox, reads: 'sandbox' }), isFresh);
    },
  };

  async function holderOf(anchor: Anchor, isFresh: boolean): Promise<Holding> {
    if (anchor.kind === 'lease') return leases.holder(anchor.subject, isFresh);
    if (anchor.kind === 'directory') return ofDirectory(anchor.id, isFresh);
    const { accountId } = anchor;
    if (anchor.kind === 'any-runner') return ofAnyRunner(accountId, anchor.choice);
    // Opening the workspace says that its runner is not connected.
    return (await runnerLinks.holder(accountId, anchor.name, isFresh)) ?? here;
  }

  async function ofDirectory(id: string | undefined, isFresh: boolean): Promise<Holding> {
    if (id === undefined || id === directory) return here;
    const find = () => membership.others().find((other) => other.directory === id);
    // A server that has just started is not known yet.
    if (isFresh || !find()) await membership.refresh();
    const server = find();
    // Opening the workspace names the server that has its files.
    return server ? { kind: 'elsewhere', key: id, epoch: 0, server } : here;
  }

  /** This server binds the workspace if one of its own runners fits, and else a server that has such a runner. */
  async function ofAnyRunner(accountId: string, choice: RunnerChoice): Promise<Holding> {
    if (fits(fleet.candidates(accountId), choice)) return here;
    const found = (await runnerLinks.views(accountId)).find(({ view }) => fits([view], choice));
    return found ? { kind: 'elsewhere', key: '', epoch: 0, server: found.server } : here;
  }
}

function fits(candidates: Parameters<typeof chooseRunner>[0], choice: RunnerChoice): boolean {
  try {
    chooseRunner(candidates, choice);
    return true;
  } catch {
    return false;
  }
}

function toAnchor(attached: AttachedWorkspace): Anchor {
  const { record, sandbox } = attached;
  const { accountId } = record;
  const name = record.config.home ?? (isOnRunner(attached) ? sandbox?.config.runner : undefined);
  if (name !== undefined) return { kind: 'runner', accountId, name };
  if (isOnRunner(attached)) return { kind: 'any-runner', accountId, choice: sandbox?.config ?? {} };
  if (isInBucket(record)) return { kind: 'lease', subject: { accountId, workspaceId: record.id } };
  return { kind: 'directory', id: record.directory };
}
