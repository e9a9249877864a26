import { commands } from '../../packages/croft/src/cli/commands/index.ts';
import { boundTables } from '../../packages/croft/src/cli/serve/bound-options.ts';
import { Settings } from '../../packages/croft/src/config.ts';
import { generatedNote, table } from './markdown-table.ts';

const listed = Object.entries(commands);

export async function toConfigurationPage(): Promise<string> {
  const toSection = async ([name, { summary, load }]: (typeof listed)[number]) => {
    const { usage, options, examples } = await load();
    const rows = Object.entries(options).map(([flag, { value = '', summary: about }]) => [
      `\`--${flag}${value === '' ? '' : ` ${value}`}\``,
      about,
    ]);
    const shown = `For example:\n\n\`\`\`\n${examples.join('\n')}\n\`\`\`\n`;
    const flags = rows.length === 0 ? '' : `\n${table(['flag', 'meaning'], rows)}`;
    return `## croft ${name}\n\n${capitalize(summary)}.\n\n\`\`\`\n${usage}\n\`\`\`\n\n${shown}${flags}`;
  };
  const sections = await Promise.all(listed.map(toSection));
  const settings = Object.entries(Settings.shape).map(([name, schema]) => [`\`${name}\``, schema.description ?? '']);
  const environment = `## Environment\n\n${table(['variable', 'meaning'], settings)}`;
  const limits = boundTables.flatMap(({ flag, rows }) =>
    rows.map(({ name, value, about }) => [`\`--${flag} ${name}=${value}\``, about]),
  );
  const bounds = `## Limits\n\n${aboutLimits}\n\n${table(['flag of `croft serve`, with its default', 'limits'], limits)}`;
  return [generatedNote, '# Configuration\n', `${intro}\n`, ...sections, bounds, environment].join('\n');
}

const intro =
  'Flags may be written with one dash or two. A bad value stops the program with the reason; nothing falls back to a default.';

const aboutLimits =
  'A request over a limit of number or size is answered 409 `E_QUOTA` or `E_TOO_MANY`, without `Retry-After`: waiting does ' +
  'not help, deleting or closing something does. A caller with too many requests is answered 429 `E_RATE_LIMITED`, and `Retry-After` says in ' +
  'how many seconds the next request is let in.';

function capitalize(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
