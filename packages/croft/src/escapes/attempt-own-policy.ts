import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { EscapeFixture } from './escape.ts';
import { type Problem, toVerdict } from './to-verdict.ts';
import { watchFiles } from './watch-files.ts';

/** Settings that a workspace has for itself must not change the next sandbox. */
export async function attemptOwnPolicy(fixture: EscapeFixture) {
  const own = await fixture.open({});
  const policy = JSON.stringify({ network: { mode: 'allow-all' }, sandbox: 'none', provider: 'none', readable: ['/'] });
  const names = ['.croft.json', 'croft.json', '.croft/config.json', '.croft/settings.json', 'croft.config.js', '.env'];
  const written = names.map((name) => `mkdir -p $(dirname ${name}); echo '${policy}' > ${name}`);
  await own.run(
    [...written, 'echo "CROFT_PROVIDER=none" >> .env', 'mkdir -p ~/.croft; cp croft.json ~/.croft/'].join('\n'),
  );
  await own.reopen();
  const { output } = await own.run(`ls -d ${own.outside} /root/* /home/*/.ssh; cat /proc/net/dev; ls ~/.croft`);
  const devices = [...output.matchAll(/^\s*([\w.-]+):/gm)]
    .map(([, name]) => name)
    .filter((name) => name !== 'lo' && name !== 'ls');
  return toVerdict(
    devices.length > 0 && `there is a network: ${devices.join(', ')}`,
    output.includes(`${own.outside}\n`) && 'the outside can be seen',
    /^croft\.json$/m.test(output) && 'a home outlived its sandbox',
  );
}

/**
 * Calls every tool that works outside the sandbox, in a repository whose settings try to make tools run programs. The
 * linter that runs after a write is the repository's own, and must run inside the sandbox.
 */
export async function attemptServerCode(fixture: EscapeFixture) {
  const own = await fixture.open({ tree: hostileRepository(fixture) });
  const problems: Problem[] = [];
  const changes = [fixture, own].map(({ outside }) => watchFiles(outside, ['.']));
  for (const [tool, input] of serverCalls) {
    const { isError, text } = await own.call(tool, input);
    if (isError) throw new Error(`${tool}: ${text}`);
    if (text.includes('was run')) problems.push(`${tool} ran code of the repository`);
  }
  if (!existsSync(join(own.workspace, 'linted'))) throw new Error('the linter of the repository was not run at all');
  return toVerdict(
    problems,
    changes.flatMap((find) => find()),
  );
}

const serverCalls: readonly (readonly [string, Record<string, unknown>])[] = [
  ['workspaces', {}],
  ['list', {}],
  ['glob', { pattern: '**/*' }],
  ['grep', { pattern: 'hello' }],
  ['read', { file_path: 'hello.txt' }],
  ['edit', { file_path: 'hello.txt', old_string: 'hello', new_string: 'goodbye' }],
  ['write', { file_path: 'new.ts', content: 'export {}' }],
  ['move', { from: 'new.ts', to: 'moved.ts' }],
  ['delete', { file_path: 'moved.ts' }],
];

function hostileRepository({ outside }: EscapeFixture): Record<string, string> {
  const mark = `echo was run; echo x > ${join(outside, 'was-run')}`;
  const script = `#!/bin/sh\n${mark}\n`;
  return {
    'hello.txt': 'hello\n',
    '.ripgreprc': '--pre=./evil.sh\n--hostname-bin=./evil.sh\n',
    'evil.sh': script,
    '.git/HEAD': 'ref: refs/heads/main\n',
    '.git/config': `[core]\n\tfsmonitor = "${mark}"\n\tpager = "${mark}"\n\tsshCommand = "${mark}"\n[diff]\n\texternal = ./evil.sh\n`,
    '.git/objects/x': '',
    '.git/hooks/post-checkout': script,
    '.gitattributes': '* filter=evil diff=evil\n',
    'eslint.config.js': mark,
    'node_modules/.bin/eslint': '#!/bin/sh\necho x > linted\necho x > ../outside/was-run\n',
    'node_modules/.bin/prettier': script,
    'node_modules/.bin/rg': script,
    'package.json': JSON.stringify({ scripts: { prepare: mark, format: mark } }),
    'tsconfig.json': JSON.stringify({ compilerOptions: { plugins: [{ name: './evil.sh' }] } }),
    '.prettierrc.js': `require('child_process').execSync(${JSON.stringify(mark)})\n`,
    '.envrc': mark,
  };
}
