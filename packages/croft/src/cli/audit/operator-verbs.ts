import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { openLocalAuditTrail } from '../../app/records/local-audit-trail.ts';
import { openRecordsForOperator } from '../../app/records/open-records-for-operator.ts';
import type { AuditVerdict } from '../../core/accounts/audit/verify-audit.ts';
import type { AuditRow } from '../../core/accounts/ports/call-tables.ts';
import { errorMessage } from '../../lib/error-message.ts';
import { UsageError } from '../../lib/usage-error.ts';
import { type Command, type CommandContext, defineCommand, type Options, type Values } from '../command.ts';
import { findServerKeys } from '../find-server-keys.ts';
import { oneOf } from '../options/sandbox-options.ts';

/** Either audit trail: of the accounts or of the local calls. */
interface Audit {
  rows(account?: string): AsyncIterable<AuditRow>;
  verify(heads: Asked['heads']): Promise<AuditVerdict>;
  head(): string | undefined;
  accept(): Promise<void>;
}

const trails = {
  accounts: 'accounts: what accounts of a server did and what was done to them; the other one is --trail local',
  local: 'local: calls in workspaces that flags name (croft mcp, tool and serve); the other one is --trail accounts',
};

const options = {
  trail: {
    type: 'string',
    value: 'NAME',
    summary: 'which trail: accounts (of a server, the default) or local (calls in workspaces that flags name)',
  },
  data: { type: 'string', value: 'DIR', summary: 'the data directory of croft' },
  'database-url': { type: 'string', value: 'URL', summary: 'PostgreSQL for records' },
} as const;

const everywhere = '[--trail NAME] [--data DIR] [--database-url URL]';

export const exportRows = toVerb('export', {
  usage: '[--account ID]',
  summary: 'print all rows of a trail, a JSON line each',
  options: { account: { type: 'string', value: 'ID', summary: 'only the rows of this account' } },
});

export const verify = toVerb('verify', {
  usage: '[--head FILE]',
  summary: 'check that nothing in a trail was changed or taken out; exit code 1 if something was',
  options: {
    head: {
      type: 'string',
      multiple: true,
      value: 'FILE',
      summary: 'a head that was kept elsewhere, to compare the trail with',
    },
  },
});

export const head = toVerb('head', {
  usage: '',
  summary: 'print the signed head of a trail, to keep elsewhere',
  options: {},
});

export const anchor = toVerb('anchor', {
  usage: '',
  summary: 'accept a trail as it is, after you have looked into why it does not fit its head',
  options: {},
});

interface VerbDefinition {
  readonly usage: string;
  readonly summary: string;
  readonly options: Options;
}

/** A command of the operator, who has the data directory and its keys. */
function toVerb(action: keyof typeof actions, { usage, summary, options: own }: VerbDefinition): Command {
  const words = ['croft audit', action, usage, everywhere].filter((word) => word !== '').join(' ');
  return defineCommand({
    name: `audit ${action}`,
    ...{ usage: words, summary, examples: [`croft audit ${action}`], options: { ...own, ...options } },
    takesOnlyFlags: true,
    run: ({ values }, terminal) => runVerb(action, values as Given, terminal),
  });
}

type Given = Values<typeof options> & { readonly account?: string; readonly head?: string[] };

async function runVerb(action: keyof typeof actions, values: Given, terminal: CommandContext): Promise<number> {
  const config = terminal.config();
  const trail = oneOf('trail', Object.keys(trails) as (keyof typeof trails)[], values.trail ?? 'accounts');
  if (trail === 'local' && values.account !== undefined)
    throw new UsageError('--account goes with --trail accounts, not with local');
  const data = values.data ?? config.data;
  const databaseUrl = values['database-url'] ?? config.databaseUrl;
  const asked = { account: values.account, heads: (values.head ?? []).map(readHead), trail: trails[trail] };
  const keys = findServerKeys(data, config.keys);
  if (trail === 'local') {
    const local = openLocalAuditTrail({
      data,
      ring: keys.ring,
      maxBytes: config.auditBytes || Number.POSITIVE_INFINITY,
    });
    return await actions[action](local, terminal, asked).finally(local.close);
  }
  await using sealed = await openRecordsForOperator({ data, databaseUrl, keys, mayLackKeys: action !== 'anchor' });
  // Awaited, because the records are closed when this function returns.
  return await actions[action](sealed.audit, terminal, asked);
}

interface Asked {
  readonly account: string | undefined;
  readonly heads: readonly { name: string; text: string }[];
  /** A description of the trail, for people. */
  readonly trail: string;
}

const actions = {
  async export({ rows }: Audit, { stdout }: CommandContext, { account }: Asked): Promise<number> {
    for await (const row of rows(account)) {
      if (!stdout.write(`${JSON.stringify(row)}\n`)) await once(stdout, 'drain');
    }
    return 0;
  },
  async verify({ verify }: Audit, { stdout }: CommandContext, { heads, trail }: Asked): Promise<number> {
    const verdict = await verify(heads);
    stdout.write(`${describe(verdict)}this is the trail of ${trail}\n`);
    return verdict.isWhole ? 0 : 1;
  },
  async head({ head }: Audit, { stdout }: CommandContext): Promise<number> {
    const text = head();
    if (text === undefined)
      throw new UsageError(
        'there is no head yet: `croft serve` makes one when it starts, and the first call that of the local trail',
      );
    stdout.write(`${text}\n`);
    return 0;
  },
  async anchor({ accept, head }: Audit, { stdout }: CommandContext, { trail }: Asked): Promise<number> {
    await accept();
    stdout.write(`the trail (${trail.split(':')[0]}) is taken as it is now: ${head()}\n`);
    return 0;
  },
};

function describe({ rows, older, broken, problems, shows, cannotShow }: AuditVerdict): string {
  if (broken) return `broken at row ${broken.row}\n${broken.reason}\n`;
  const kind = older === 0 ? '' : `, ${older} of them of the older kind, without a key`;
  const list = (title: string, items: readonly string[]) =>
    items.length === 0 ? [] : [title, ...items.map((item) => `  ${item}`)];
  return [
    `${rows} rows, each follows from the one before${kind}`,
    ...list('but the trail does not fit:', problems),
    ...list('this shows that', shows),
    ...list('this does not show', cannotShow),
    '',
  ].join('\n');
}

function readHead(file: string): { name: string; text: string } {
  try {
    return { name: file, text: readFileSync(file, 'utf8') };
  } catch (thrown) {
    throw new UsageError(`--head ${file}: ${errorMessage(thrown)}`);
  }
}
