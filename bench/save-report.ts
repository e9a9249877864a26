import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus, loadavg, release } from 'node:os';
import { join } from 'node:path';
import type { Report } from './bench.ts';

const file = join(import.meta.dirname, 'results.json');

/** Conditions of the figures. The load is that of the last minute, in programs that want a CPU. */
export function describeMachine(loadBefore: number) {
  return {
    date: new Date().toISOString(),
    node: process.version,
    cpus: availableParallelism(),
    cpu: cpus()[0]?.model ?? 'unknown',
    kernel: release(),
    loadBefore,
    loadAfter: loadavg()[0] ?? 0,
  };
}

/** Keeps the last report of each bench. */
export function saveReport(name: string, { rows, about }: Report, machine: ReturnType<typeof describeMachine>): void {
  const earlier = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>) : {};
  const results = { ...earlier, [name]: { ...machine, ...about, rows } };
  writeFileSync(file, `${JSON.stringify(results, roundNumbers, 2)}\n`);
}

function roundNumbers(_key: string, value: unknown): unknown {
  return typeof value === 'number' ? Number(value.toFixed(3)) : value;
}
