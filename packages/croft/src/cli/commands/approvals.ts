import { UsageError } from '../../lib/usage-error.ts';
import { type ApprovalSource, toServerSource } from '../approvals/approval-source.ts';
import { openLocalApprovalSource } from '../approvals/local-approval-source.ts';
import { approvalColumns, renderApproval } from '../approvals/render-approval.ts';
import { askAtTerminal, canAsk, printEvents } from '../approvals/watch-approvals.ts';
import { type Command, type CommandContext, defineGroup, type Options, type Values } from '../command.ts';
import { findKeyAccess, keyOptions, openKeyClient, reportingErrors } from '../open-client.ts';
import { exitCodes, toSignalCode } from '../output/exit-codes.ts';
import { outputOptions, printJson, printRows } from '../output/print-rows.ts';

type Given<O extends Options> = Values<O> & Values<typeof keyOptions>;

const listOptions = {
  watch: { type: 'boolean', short: 'w', summary: 'go on, and ask about each one at a terminal' },
  all: { type: 'boolean', summary: 'also those that are decided or expired' },
  ...outputOptions,
} as const;

const list = toVerb({
  name: 'approvals list',
  usage: 'croft approvals list [-w] [--all] [--json | -q]',
  examples: ['croft approvals', 'croft approvals list -w', 'croft approvals list --all --json'],
  options: listOptions,
  takes: 0,
  async run(source, values: Given<typeof listOptions>, _words, terminal) {
    if (values.watch) return watch(source, values, terminal);
    const rows = await source.list(values.all ? undefined : 'pending');
    const idOf = approvalColumns.id;
    printRows({ columns: approvalColumns, idOf, rows, answer: { approvals: rows } }, values, terminal);
    if (rows.length === 0) terminal.stderr.write('nothing waits for an approval\n');
    return exitCodes.done;
  },
});

async function watch(source: ApprovalSource, values: Given<typeof listOptions>, terminal: CommandContext) {
  if (canAsk(terminal) && !values.json) await askAtTerminal(source, terminal);
  else await printEvents(source, terminal, values.json ?? false);
  return terminal.stop.aborted ? toSignalCode(terminal.stop) : exitCodes.done;
}

const show = toVerb({
  name: 'approvals show',
  usage: 'croft approvals show APPROVAL [--json]',
  examples: ['croft approvals show ap_1'],
  options: { json: outputOptions.json },
  takes: 1,
  async run(source, { json }: { json?: boolean }, [id], { stdout }) {
    const approval = await source.get(id);
    if (json) printJson({ approval }, stdout);
    else stdout.write(renderApproval(approval));
    return exitCodes.done;
  },
});

const decideOptions = {
  reason: { type: 'string', value: 'TEXT', summary: 'the reason, which the agent is told' },
  json: outputOptions.json,
} as const;
const approveOptions = {
  ...decideOptions,
  'for-session': { type: 'boolean', summary: 'approve every call of that session that is exactly the same' },
} as const;

const approve = toVerb({
  name: 'approvals approve',
  usage: 'croft approvals approve APPROVAL… [--for-session] [--reason TEXT] [--json]',
  examples: ['croft approvals approve ap_1', 'croft approvals approve ap_1 --for-session'],
  options: approveOptions,
  run: (source, { reason, json, 'for-session': isForSession }: Given<typeof approveOptions>, ids, terminal) =>
    decideAll(source, ids, { decision: 'approve', reason, scope: isForSession ? 'session' : 'once' }, json, terminal),
});

const deny = toVerb({
  name: 'approvals deny',
  usage: 'croft approvals deny APPROVAL… [--reason TEXT] [--json]',
  examples: ['croft approvals deny ap_1 --reason "use the staging database"'],
  options: decideOptions,
  run: (source, { reason, json }: Given<typeof decideOptions>, ids, terminal) =>
    decideAll(source, ids, { decision: 'deny', reason }, json, terminal),
});

async function decideAll(
  source: ApprovalSource,
  ids: readonly string[],
  decision: Parameters<ApprovalSource['decide']>[1],
  isJson: boolean | undefined,
  { stdout }: CommandContext,
): Promise<number> {
  for (const id of ids) {
    const approval = await source.decide(id, decision);
    if (isJson) printJson({ approval }, stdout);
    else stdout.write(`${approval.approvalId}\t${approval.state}\n`);
  }
  return exitCodes.done;
}

export const approvals = defineGroup('approvals', { list, show, approve, deny });

interface Verb<V> extends Pick<Command, 'name' | 'usage' | 'examples' | 'options'> {
  /** How many words it takes. Left out: at least one. */
  readonly takes?: number;
  run(
    source: ApprovalSource,
    values: V,
    words: readonly [string, ...string[]],
    terminal: CommandContext,
  ): Promise<number>;
}

function toVerb<V>({ takes, run, options, ...rest }: Verb<V>): Command {
  return {
    ...{ ...rest, options: { ...options, ...keyOptions }, words: ['approvals'] },
    run: ({ values, positionals }, terminal) =>
      reportingErrors(terminal, async () => {
        const count = positionals.length;
        if (takes === undefined ? count === 0 : count !== takes) throw new UsageError(`usage: ${rest.usage}`);
        await using source = await openSource(values, terminal);
        return await run(source, values as V, positionals as unknown as [string, ...string[]], terminal);
      }),
  };
}

/**
 * The approvals of the account that this person has a key for. Otherwise those of the workspaces that flags name: the
 * data directory has them, and the token of the server, which clients have too, decides nothing.
 */
async function openSource(values: Values<typeof keyOptions>, terminal: CommandContext): Promise<ApprovalSource> {
  const { readKey, isLocal } = findKeyAccess(values, terminal);
  if (readKey && !isLocal && values.data === undefined) return toServerSource(openKeyClient(values, terminal).croft);
  const config = terminal.config();
  return openLocalApprovalSource(values.data ?? config.data, config);
}
