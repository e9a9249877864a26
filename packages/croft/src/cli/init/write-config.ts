import { copyFileSync, mkdirSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { ConfigChange } from './plan-config-change.ts';

const mode = 0o600;

/**
 * Replaces a configuration file in one step, and saves the old file beside it. Returns the path of that copy. A
 * symbolic link, as people use for dotfiles, stays a link.
 */
export function writeConfig({ file, before, after }: ConfigChange): string | undefined {
  mkdirSync(dirname(file), { recursive: true });
  const target = before === undefined ? file : realpathSync(file);
  const backup = before === undefined ? undefined : `${target}.before-croft`;
  if (backup !== undefined) copyFileSync(target, backup);
  const temporary = `${target}.croft-${process.pid}`;
  try {
    const kept = statSync(target, { throwIfNoEntry: false })?.mode ?? mode;
    writeFileSync(temporary, after, { mode: kept & 0o777, flag: 'wx' });
    renameSync(temporary, target);
  } finally {
    rmSync(temporary, { force: true });
  }
  return backup;
}
