import type { Runner, Sandbox } from '@croft/protocol';
import { useEffect } from 'preact/hooks';
import { Icon } from '../../parts/icon.tsx';
import { Loaded } from '../../parts/loading-states.tsx';
import { Ago, Marked } from '../../parts/marked-text.tsx';
import { mayDo, session } from '../../server/session.ts';
import { invalidate, useResource } from '../../server/use-resource.ts';
import { toCount, toModeWords } from '../../text/format-times-and-sizes.ts';
import { NothingYet } from '../first-agent/nothing-yet.tsx';
import { AddRunner } from './add-runner.tsx';
import { OpenSandboxes } from './open-sandboxes.tsx';
import type { Meter } from './sandbox-meters.ts';
import { useMeters } from './use-sandbox-meters.ts';

const sandboxesPath = '/v1/sandboxes?limit=200';

/** The page of sandboxes, as they are defined, and of connected runners. */
export function MachinesPage() {
  const sandboxes = useResource<{ sandboxes: readonly Sandbox[] }>(sandboxesPath);
  return (
    <div class="page">
      <header class="page-head">
        <h1>Machines</h1>
      </header>
      <h2 class="section">Sandboxes</h2>
      <Loaded from={sandboxes} onRetry={() => invalidate(sandboxesPath)}>
        {({ sandboxes: found }) =>
          found.length === 0 ? <NothingYet what="sandbox" /> : <SandboxList sandboxes={found} />
        }
      </Loaded>
      {!session.value?.isOperator && <Runners />}
    </div>
  );
}

function SandboxList({ sandboxes }: { readonly sandboxes: readonly Sandbox[] }) {
  const meters = useMeters(sandboxes.map(({ sandboxId }) => sandboxId));
  return (
    <ul class="machines">
      {sandboxes.map((sandbox) => (
        <SandboxLines key={sandbox.sandboxId} sandbox={sandbox} meters={meters.get(sandbox.sandboxId)} />
      ))}
    </ul>
  );
}

interface SandboxLinesProps {
  readonly sandbox: Sandbox;
  /** Left out until the first reading. */
  readonly meters: readonly Meter[] | undefined;
}

function SandboxLines({ sandbox, meters }: SandboxLinesProps) {
  const { sandboxId, name, config } = sandbox;
  return (
    <li class="machine">
      <div class="machine-head">
        <strong>
          <Marked text={name} />
        </strong>
        <span class="muted">
          {config.provider !== name && `${config.provider} · `}
          {toModeWords(config.permissionMode)} · {describeNetwork(config.network)}
        </span>
        {meters && <span class="machine-state">{meters.length === 0 ? 'none open' : `${meters.length} open`}</span>}
        {mayDo('terminal') && (
          <a class="button button-quiet machine-open" href={`/terminal?sandbox=${encodeURIComponent(sandboxId)}`}>
            <Icon name="terminal" /> Terminal
          </a>
        )}
      </div>
      {meters && meters.length > 0 && <OpenSandboxes meters={meters} />}
    </li>
  );
}

function describeNetwork({ mode, allowDomains = [] }: Sandbox['config']['network']): string {
  if (mode === 'deny-all') return 'no network';
  return mode === 'allow-all' ? 'every public host' : toCount(allowDomains.length, 'host');
}

/** The state of a runner changes without an event. */
const everyMs = 5000;

function Runners() {
  useEffect(() => {
    const timer = setInterval(() => invalidate('/v1/runners'), everyMs);
    return () => clearInterval(timer);
  }, []);
  const runners = useResource<{ runners: readonly Runner[] }>('/v1/runners');
  return (
    <>
      <h2 class="section">Runners</h2>
      <Loaded from={runners} rows={2}>
        {({ runners: found }) => (
          <ul class="machines">
            {found.map((runner) => (
              <RunnerLine key={runner.runnerId} runner={runner} />
            ))}
          </ul>
        )}
      </Loaded>
      <AddRunner />
    </>
  );
}

const runnerSigns = { online: '●', reconnecting: '◌', offline: '○' } as const;

function RunnerLine({ runner }: { readonly runner: Runner }) {
  const { name, state, report, load, lastSeenAt, lastError } = runner;
  const labels = Object.entries(report?.labels ?? {}).map(([key, value]) => `${key}=${value}`);
  return (
    <li class="machine">
      <div class="machine-head">
        <strong>
          <Marked text={name} />
        </strong>
        <span class={`runner-state runner-${state}`}>
          <span aria-hidden="true">{runnerSigns[state]}</span> {state}
        </span>
        {report && (
          <span>
            {load?.sandboxes ?? 0} of {report.capacity} sandboxes
          </span>
        )}
        <span class="muted">
          <Marked text={[report?.provider, report?.version, ...labels].filter(Boolean).join(' · ')} />
        </span>
        <span class="machine-open">
          {lastSeenAt && state !== 'online' && (
            <>
              seen <Ago at={lastSeenAt} />
            </>
          )}
        </span>
      </div>
      {lastError && (
        <p class="machine-error">
          <Marked text={lastError} />
        </p>
      )}
    </li>
  );
}
