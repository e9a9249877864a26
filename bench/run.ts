import { loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import type { Bench, Row, Selection } from './bench.ts';
import * as benches from './index.ts';
import { renderTable } from './render-table.ts';
import { describeMachine, saveReport } from './save-report.ts';

process.once('SIGINT', () => process.exit(130));
process.once('SIGTERM', () => process.exit(143));

const all: readonly Bench[] = Object.values(benches);
const { positionals: wanted, values } = parseArgs({
  allowPositionals: true,
  options: { size: { type: 'string', multiple: true }, row: { type: 'string', multiple: true } },
});
const only: Selection = {
  ...(values.size && { sizes: values.size.map(Number) }),
  ...(values.row && { rows: values.row }),
};
const unknown = wanted.filter((name) => all.every((bench) => bench.name !== name));

if (unknown.length > 0) {
  console.error(`no bench is called ${unknown.join(', ')}; there is: ${all.map(({ name }) => name).join(', ')}`);
  process.exitCode = 1;
} else await runBenches(wanted.length === 0 ? all : all.filter(({ name }) => wanted.includes(name)));

/** A missed goal is a figure, not a failure; a bench that could not be run is one. */
async function runBenches(chosen: readonly Bench[]): Promise<void> {
  const rows: Row[] = [];
  const notes: string[] = [];
  for (const { name, run } of chosen) {
    const [loadBefore = 0] = loadavg();
    try {
      const report = await run((progress) => console.error(`${name}: ${progress}`), only);
      const machine = describeMachine(loadBefore);
      // A part of a bench replaces no whole one.
      if (!only.sizes && !only.rows) saveReport(name, report, machine);
      rows.push(...report.rows);
      const load = `load ${loadBefore.toFixed(1)} before, ${machine.loadAfter.toFixed(1)} after, on ${machine.cpus} CPUs`;
      notes.push(
        `${name}: ${[load, ...Object.entries(report.about ?? {}).map((entry) => entry.join(' '))].join('; ')}`,
      );
    } catch (thrown) {
      console.error(`${name}: ${thrown instanceof Error ? thrown.message : thrown}`);
      process.exitCode = 1;
    }
  }
  if (rows.length > 0) console.log([renderTable(rows), '', ...notes].join('\n'));
}
