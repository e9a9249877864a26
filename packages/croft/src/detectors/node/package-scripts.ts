import type { Argv } from '../../core/projects/profile.ts';
import type { NodePackageManager } from './package-manifest.ts';

export function scriptArgv(manager: NodePackageManager, name: string): Argv {
  return [manager, 'run', name];
}

/**
 * Builds a command that arguments can be appended to. Only npm would take them for its own, and only npm removes the
 * dashes.
 */
export function withArguments(manager: NodePackageManager, name: string): Argv {
  return [...scriptArgv(manager, name), ...(manager === 'npm' ? ['--'] : [])];
}

const alias = /^(?:(?:npm|pnpm|yarn)(?: run)?|bun run) (?:-s |--silent )?([\w:.-]+)$/;

/** Returns the script that a line runs, if it does nothing else. `bun test` is a test runner, `npm test` a script. */
export function readAlias(line: string): string | undefined {
  return alias.exec(line.trim())?.[1];
}

const maxLine = 4000;

/** Returns the last command of a line, which gets appended arguments; `undefined` if only a shell can tell. */
export function lastCommand(line: string): { readonly text: string; readonly isOnly: boolean } | undefined {
  if (line.length > maxLine) return undefined;
  let start = 0;
  // An operator, a quoted part, or anything else; a stray quote is a part by itself.
  for (const part of line.matchAll(/[;&|\n]+|'[^']*'|"[^"]*"|[^;&|\n'"]+|['"]/g)) {
    if (!/^[;&|\n]/.test(part[0])) continue;
    if (part[0] !== '&&' && part[0] !== ';') return undefined;
    start = part.index + part[0].length;
  }
  const text = line.slice(start).trim();
  return text === '' ? undefined : { text, isOnly: start === 0 };
}
