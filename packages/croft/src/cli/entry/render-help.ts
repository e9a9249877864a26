import type { AnyCommand } from '../command.ts';
import { commandGroups } from '../commands/index.ts';

/** The text of `croft help`. */
export function overview(): string {
  const groups = Object.entries(commandGroups).flatMap(([title, listed]) => [
    '',
    title,
    ...Object.entries(listed).map(([name, { summary }]) => `  croft ${name.padEnd(11)} ${summary}`),
  ]);
  const more = ['', 'croft COMMAND --help has the flags and examples of a command.'];
  return ['croft: workspaces, sandboxes and a fence for coding agents', ...groups, ...more, ''].join('\n');
}

/** The text of `croft COMMAND --help`. */
export function describe({ usage, options, examples }: AnyCommand, summary: string): string {
  const rows = Object.entries(options).map(([flag, { value = '', summary: about, short }]) => {
    const letter = short === undefined ? '' : `-${short}, `;
    return `  ${`${letter}--${flag} ${value}`.padEnd(26)} ${about}`;
  });
  const flags = rows.length === 0 ? [] : ['', 'flags', ...rows];
  const shown = examples.length === 0 ? [] : ['', 'examples', ...examples.map((example) => `  ${example}`)];
  return [usage, '', `  ${summary}`, ...flags, ...shown, ''].join('\n');
}
