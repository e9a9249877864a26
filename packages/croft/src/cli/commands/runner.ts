import { resolve } from 'node:path';
import { createRunnerOffer } from '../../app/offer.ts';
import type { RunnerReport } from '../../core/runners/runner.ts';
import { parseWorkspaceSpec } from '../../core/workspace/parse-workspace-spec.ts';
import { putServerFirst } from '../../lib/cgroup/put-server-first.ts';
import { UsageError } from '../../lib/usage-error.ts';
import { runRunner } from '../../runner/run-runner.ts';
import { version } from '../../version.ts';
import { checkRunnerRequirements } from '../check-runner-requirements.ts';
import { type CommandContext, defineCommand, type Values } from '../command.ts';
import { readSecret } from '../open-client.ts';
import { codeOptions, toCodeMode } from '../options/code-options.ts';
import { historyOptions, toHistoryLimits } from '../options/history-options.ts';
import { describeOpenings, providerSummary, sandboxOptions, toSandboxOptions } from '../options/sandbox-options.ts';

const { sandbox: _, ...policyOptions } = sandboxOptions;

const options = {
  server: { type: 'string', value: 'URL', summary: 'the server to connect to: https://… or wss://…' },
  'token-file': { type: 'string', value: 'FILE', summary: 'the token of this runner (croft runners create NAME)' },
  workspaces: { type: 'string', value: 'SPEC', summary: 'directories that this runner offers: name=dir,name=dir' },
  root: { type: 'string', value: 'DIR', summary: 'the directory in which new workspaces are made' },
  name: { type: 'string', value: 'NAME', summary: 'the name of this runner, which has to be that of its token' },
  provider: { type: 'string', value: 'NAME', summary: providerSummary },
  label: {
    type: 'string',
    multiple: true,
    value: 'KEY=VALUE',
    summary: 'a label that sandboxes choose runners by; may be repeated',
  },
  capacity: { type: 'string', value: 'N', summary: 'how many sandboxes may be open at once (100)' },
  readonly: { type: 'boolean', summary: 'refuses all changes, whatever the server asks' },
  insecure: { type: 'boolean', summary: 'connect without TLS to another machine; the server has to allow it too' },
  data: { type: 'string', value: 'DIR', summary: 'the data directory of the runner' },
  ...codeOptions,
  ...historyOptions,
  ...policyOptions,
} as const;

export const runner = defineCommand({
  name: 'runner',
  usage: 'croft runner --server URL --token-file FILE (--workspaces SPEC | --root DIR) [--label KEY=VALUE]… …',
  examples: ['croft runner --server https://croft.example --token-file runner.token --root /srv/work'],
  options,
  takesOnlyFlags: true,
  async run({ values }, terminal) {
    const { url, tokenFile } = mustBeGiven(values);
    const say = (message: string) => void terminal.stderr.write(`croft runner: ${message}\n`);
    const sandbox = toSandboxes(values, terminal);
    describeOpenings(sandbox).forEach(say);
    putServerFirst();
    await using offer = createRunnerOffer({
      ...toWorkspaceSources(values),
      data: toData(values, terminal),
      ...{ sandbox, host: terminal.config().host, isReadOnly: values.readonly ?? false, capacity: toCapacity(values) },
      historyLimits: toHistoryLimits(values),
      code: toCodeMode(values),
      onWarning: say,
    });
    // A read-only runner changes and runs nothing, so it has no requirements.
    if (!values.readonly)
      await checkRunnerRequirements({
        root: toWorkspaceSources(values).root,
        data: toData(values, terminal),
        probe: offer.probe,
      });
    await runRunner({
      ...{ url, workspaces: offer, report: toReport(values, sandbox.provider, offer.names) },
      // Read for each connection, so that a replaced token is found.
      token: () => readSecret(tokenFile),
      isInsecure: values.insecure ?? false,
      signal: terminal.stop,
      say,
    });
    return 0;
  },
});

type RunnerValues = Values<typeof options>;

function mustBeGiven({ server, 'token-file': tokenFile, workspaces, root }: RunnerValues) {
  if (server === undefined || tokenFile === undefined) throw new UsageError(`usage: ${runner.usage}`);
  if (!URL.canParse(server)) throw new UsageError(`--server takes a URL such as https://croft.example, not ${server}`);
  if (workspaces === undefined && root === undefined)
    throw new UsageError('say what is offered: --workspaces name=dir,… or --root DIR for new ones, or both');
  return { url: server, tokenFile };
}

function toWorkspaceSources({ workspaces, root }: RunnerValues) {
  const sources = workspaces === undefined ? [] : parseWorkspaceSpec(workspaces);
  return { workspaces: sources, ...(root !== undefined && { root: resolve(root) }) };
}

function toData({ data }: RunnerValues, terminal: CommandContext): string {
  return resolve(data ?? `${terminal.config().data}/runner`);
}

function toSandboxes(values: RunnerValues, terminal: CommandContext) {
  const { provider, ...rest } = values;
  const { workspaces, root } = toWorkspaceSources(values);
  const protectedDirectories = {
    workspaces: [...workspaces.map(({ path }) => path), ...(root === undefined ? [] : [root])],
    data: toData(values, terminal),
    home: terminal.config().host.home,
  };
  return toSandboxOptions(
    { ...rest, ...(provider !== undefined && { sandbox: provider }) },
    protectedDirectories,
    'provider',
  );
}

function toCapacity({ capacity: given }: RunnerValues): number {
  const capacity = Number(given ?? 100);
  if (Number.isInteger(capacity) && capacity >= 1 && capacity <= 100_000) return capacity;
  throw new UsageError(`--capacity takes a number of sandboxes, not ${given}`);
}

function toReport(values: RunnerValues, provider: string, workspaces: readonly string[]): RunnerReport {
  return {
    ...(values.name !== undefined && { name: values.name }),
    ...{ version, provider, capacity: toCapacity(values), workspaces, labels: toLabels(values.label ?? []) },
    makesWorkspaces: values.root !== undefined,
  };
}

function toLabels(entries: readonly string[]): Record<string, string> {
  const pairs = entries.map((entry) => {
    const [, key, value] = /^([^=]{1,128})=(.{1,128})$/.exec(entry) ?? [];
    if (key === undefined || value === undefined) throw new UsageError(`--label takes KEY=VALUE, not ${entry}`);
    return [key, value] as const;
  });
  return Object.fromEntries(pairs);
}
