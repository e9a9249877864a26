import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { croft, report } from './cases.ts';

/** The command line of the MCP Inspector: a process for each call. */
const inspector = fileURLToPath(
  new URL('../node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js', import.meta.url),
);

await report(async ({ tool, input }) => {
  const given = Object.entries(input).flatMap(([name, value]) => ['--tool-arg', `${name}=${value}`]);
  const call = ['--method', 'tools/call', '--tool-name', tool, ...given];
  const { stdout, stderr } = spawnSync(
    process.execPath,
    [inspector, '--cli', '--connect-timeout', '120000', croft.command, ...croft.args, ...call],
    {
      encoding: 'utf8',
    },
  );
  const end = stdout.lastIndexOf('\n}');
  return end === -1 ? `${stdout}${stderr}` : JSON.parse(stdout.slice(stdout.indexOf('{'), end + 2));
});
