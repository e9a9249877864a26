import { defaultRetention } from '../../core/history/logs/retention.ts';
import { stripControlSequences } from '../../lib/text/strip-control-sequences.ts';
import { UsageError } from '../../lib/usage-error.ts';
import { defineCommand } from '../command.ts';
import { type DiskUse, listDiskUse } from '../list-disk-use.ts';

export const du = defineCommand({
  name: 'du',
  usage: 'croft du [--json] [--data DIR]',
  examples: ['croft du'],
  options: {
    json: { type: 'boolean', summary: 'a JSON line for each, for programs' },
    data: { type: 'string', value: 'DIR', summary: 'the data directory of croft' },
  },
  async run({ values, positionals }, { config, stdout }) {
    if (positionals.length > 0) throw new UsageError(`usage: ${du.usage}`);
    const data = values.data ?? config().data;
    const entries = await listDiskUse(data);
    const total = entries.reduce((sum, { bytes }) => sum + bytes, 0);
    if (values.json) for (const one of entries) stdout.write(`${JSON.stringify(one)}\n`);
    else stdout.write([...entries.map(toLine), `${toSize(total)}  in all, in ${data}`, ''].join('\n'));
    return 0;
  },
});

function toLine(one: DiskUse): string {
  const of = one.of ?? one.path;
  return stripControlSequences(`${toSize(one.bytes)}  ${names[one.kind]} ${of}${why(one)}`);
}

const names: Readonly<Record<DiskUse['kind'], string>> = {
  history: 'history of',
  cache: 'packages for',
  code: 'code index of',
  workspace: 'workspace',
  fork: 'fork',
  mount: 'files of a bucket',
  records: 'records',
  other: 'other',
};

function why({ notes, isOrphan, path }: DiskUse): string {
  if (isOrphan) return ` (the directory is gone; nobody needs it: rm -r ${path})`;
  if (!notes) return '';
  const { named, automatic, checkpoints, since } = notes;
  const { count, ageMs } = defaultRetention;
  const from = since === undefined ? '' : ` since ${since.slice(0, 10)}`;
  return [
    ` (${plural(named, 'snapshot')}, kept until deleted`,
    plural(automatic, 'automatic snapshot'),
    `${plural(checkpoints, 'checkpoint')}${from}: the last ${count} of ${ageMs / 86_400_000} days)`,
  ].join('; ');
}

function plural(count: number, word: string): string {
  return `${count} ${word}${count === 1 ? '' : 's'}`;
}

/** A size of fixed width, so that the sizes are aligned. */
function toSize(bytes: number): string {
  const units = ['kB', 'MB', 'GB', 'TB'];
  let [size, unit] = [bytes / 1024, 0];
  for (; size >= 1000 && unit < units.length - 1; unit++) size /= 1024;
  return `${size.toFixed(size < 10 ? 1 : 0).padStart(5)} ${units[unit]}`;
}
