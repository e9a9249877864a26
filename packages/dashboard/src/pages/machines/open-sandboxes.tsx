import type { OpenSandbox } from '@croft/protocol';
import { nameOfAgent, nameOfWorkspace } from '../../live/record-names.ts';
import { Ago, Marked } from '../../parts/marked-text.tsx';
import { Sparkline } from '../../parts/sparkline.tsx';
import { toCount, toSize } from '../../text/format-times-and-sizes.ts';
import { type Meter, mostReadings } from './sandbox-meters.ts';

/** The open sandboxes of one definition: their workspace, their user, and their usage. */
export function OpenSandboxes({ meters }: { readonly meters: readonly Meter[] }) {
  return (
    <ul class="meters">
      {meters.map((meter) => (
        <MeterLine key={meter.open.id} meter={meter} />
      ))}
    </ul>
  );
}

function MeterLine({ meter }: { readonly meter: Meter }) {
  const { open } = meter;
  return (
    <li class="meter">
      <span class="meter-where">
        <a href={`/workspaces/${encodeURIComponent(open.workspaceId)}/files`}>
          <Marked text={nameOfWorkspace(open.workspaceId)} />
        </a>{' '}
        <span class="muted">
          {describeOpener(open)}, opened <Ago at={open.openedAt} />
          {open.isSuspended ? ', suspended' : ''}
        </span>
      </span>
      <Processors meter={meter} />
      <Memory meter={meter} />
      <span class="meter-count">{open.processes === null ? '' : toCount(open.processes, 'process', 'processes')}</span>
      <Ports open={open} />
    </li>
  );
}

/** A terminal is a person's. */
function describeOpener({ openedBy }: OpenSandbox): string {
  return openedBy.startsWith('agent_') || openedBy === 'flags' ? nameOfAgent(openedBy) : 'a terminal';
}

function Processors({ meter: { open, processors } }: { readonly meter: Meter }) {
  const now = processors.at(-1);
  const words = now === undefined ? '–' : `${Math.round(now * 100)} %`;
  return (
    <span class="gauge" title={`${open.limits.cpus} processors at most`}>
      <span class="gauge-name">CPU</span>
      <Sparkline
        values={processors}
        most={open.limits.cpus}
        slots={mostReadings}
        label={now === undefined ? 'processors: not measured' : `${words} of one processor`}
      />
      <span class="gauge-value">{words}</span>
    </span>
  );
}

function Memory({ meter: { open, memoryBytes } }: { readonly meter: Meter }) {
  const now = memoryBytes.at(-1);
  const most = toSize(open.limits.memoryBytes);
  return (
    <span class="gauge">
      <span class="gauge-name">Memory</span>
      <Sparkline
        values={memoryBytes}
        most={open.limits.memoryBytes}
        slots={mostReadings}
        label={now === undefined ? 'memory: not measured' : `${toSize(now)} of ${most}`}
      />
      <span class="gauge-value">
        {now === undefined ? '–' : toSize(now)} <span class="muted">of {most}</span>
      </span>
    </span>
  );
}

function Ports({ open: { ports } }: { readonly open: OpenSandbox }) {
  const numbers = [...new Set(ports.map(({ port }) => port))];
  return (
    <span class="meter-ports">
      {numbers.map((number) => (
        <code class="port" key={number} title={toAddresses(ports, number)}>
          :{number}
        </code>
      ))}
    </span>
  );
}

function toAddresses(ports: OpenSandbox['ports'], number: number): string {
  const addresses = ports.filter(({ port }) => port === number).map(({ address }) => address);
  return `a program listens at ${addresses.join(', ')}, inside the sandbox`;
}
