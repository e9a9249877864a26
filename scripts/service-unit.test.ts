import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const unit = readFileSync(join(import.meta.dirname, '../deploy/croft.service'), 'utf8');
const hasAnalyzer = spawnSync('systemd-analyze', ['--version']).status === 0;

/**
 * A sandbox has namespaces, a `/proc` and a host name of its own. The kernel mounts no new `/proc` where a part of the old one
 * is covered, as `ProtectKernelLogs=` covers `/proc/kmsg`.
 */
const forbidden = [
  ...['RestrictNamespaces', 'PrivateUsers', 'ProtectHostname', 'ProtectControlGroups', 'MemoryDenyWriteExecute'],
  ...['ProtectKernelLogs', 'ProtectKernelTunables', 'ProtectProc', 'ProcSubset'],
];

test.each(forbidden)('the unit does not set %s, with which no sandbox opens', (name) => {
  expect(unit).not.toMatch(new RegExp(`^${name}=`, 'm'));
});

test.skipIf(!hasAnalyzer)('systemd understands every setting of the unit', () => {
  const directory = mkdtempSync(join(tmpdir(), 'croft-unit-'));
  try {
    const file = join(directory, 'croft.service');
    writeFileSync(file, unit.replace('/usr/bin/croft', process.execPath));
    const { status, stderr } = spawnSync('systemd-analyze', ['verify', file], { encoding: 'utf8', timeout: 60_000 });
    expect([status, stderr]).toEqual([0, '']);
  } finally {
    rmSync(directory, { recursive: true });
  }
});
