import { loadCommands } from '../../packages/croft/src/cli/commands/index.ts';
import { Settings } from '../../packages/croft/src/config.ts';
import { generatedNote, table } from './markdown.ts';

export async function toConfigurationPage(): Promise<string> {
  const sections = (await loadCommands()).map(({ name, usage, summary, options }) => {
    const rows = Object.entries(options).map(([flag, { value = '', summary: about }]) => [
      `\`--${flag}${value === '' ? '' : ` ${value}`}\``,
      about,
    ]);
    return `## croft ${name}\n\n${capitalize(summary)}.\n\n\`\`\`\n${usage}\n\`\`\`\n\n${table(['flag', 'meaning'], rows)}`;
  });
  const settings = Object.entries(Settings.shape).map(([name, schema]) => [`\`${name}\``, schema.description ?? '']);
  const environment = `## Environment\n\n${table(['variable', 'meaning'], settings)}`;
  return [generatedNote, '# Configuration\n', `${intro}\n`, ...sections, environment].join('\n');
}

const intro =
  'Flags may be written with one dash or two. A bad value stops the program with the reason; nothing falls back to a default.';

function capitalize(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
