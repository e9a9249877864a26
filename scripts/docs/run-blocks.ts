import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';

const root = join(import.meta.dirname, '../..');

/** Loopback and nothing else: a page may use the ports that it names, and reaches nobody. */
const offline = ['unshare', '--net', 'sh', '-c', 'ip link set lo up && exec "$@"', 'sh'];
export const canGoOffline = spawnSync(offline[0] ?? '', [...offline.slice(1), 'true']).status === 0;

const timeoutMs = 200_000;

/** A server goes on in the background until the page ends. The next command waits until it listens. */
const startServer = `start() {
  log=$(mktemp "$HOME/server.XXXXXX")
  "$@" >"$log" 2>&1 </dev/null &
  pid=$!
  echo $pid >>"$HOME/servers"
  until grep -q 'listening\\|http://' "$log"; do
    kill -0 $pid 2>/dev/null || { cat "$log" >&2; exit 1; }
    sleep 0.1
  done
}`;

const programs: Readonly<Record<string, string>> = {
  croft: `#!/bin/bash
${startServer}
if [ "$1" = serve ]; then start ${root}/node_modules/.bin/croft "$@"; else exec ${root}/node_modules/.bin/croft "$@" </dev/null; fi
`,
  npx: '#!/bin/bash\nexec "$@"\n',
  npm: `#!/bin/bash
${startServer}
[ "$*" = start ] || { echo "a page runs npm $*, which no test knows" >&2; exit 1; }
cd ${root} && start node_modules/.bin/croft serve --demo
`,
};

/** Files of the reader: a home directory with two repositories. */
const files: Readonly<Record<string, string>> = {
  'service/README.md': '# A service\n\nTODO: write it.\n',
  'service/package.json': '{ "name": "service", "scripts": { "test": "true" } }\n',
  'plugin/README.md': '# A plugin\n',
};

export interface BlocksRun {
  readonly exitCode: number | null;
  /** Output of the blocks, each behind a line with its number. */
  readonly output: string;
}

/** Runs the blocks of one page one after the other, as a reader would, in a scratch home directory. */
export async function runBlocks(blocks: readonly string[]): Promise<BlocksRun> {
  const home = mkdtempSync(join(tmpdir(), 'croft-docs-'));
  try {
    prepareHome(home, blocks);
    const [command = '', ...args] = [...offline, 'bash', join(home, 'page.sh')];
    const env = { HOME: home, PATH: `${join(home, 'bin')}:${process.env.PATH}`, LANG: 'C.UTF-8' };
    const child = spawn(command, args, { cwd: join(home, 'service'), env, timeout: timeoutMs });
    const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
    const [out, err, exitCode] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
    return { exitCode, output: `${out}${err}` };
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

function prepareHome(home: string, blocks: readonly string[]): void {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(home, path)), { recursive: true });
    writeFileSync(join(home, path), content);
  }
  mkdirSync(join(home, 'bin'));
  for (const [name, script] of Object.entries(programs)) {
    writeFileSync(join(home, 'bin', name), script);
    chmodSync(join(home, 'bin', name), 0o755);
  }
  symlinkSync(process.execPath, join(home, 'bin/node'));
  const parts = blocks.map((block, index) => `echo "== block ${index + 1}"\n${block}`);
  writeFileSync(join(home, 'page.sh'), `set -euo pipefail\n${stopServers}\n${parts.join('\n')}\n`);
}

const stopServers = `stop() { [ -f "$HOME/servers" ] && kill $(cat "$HOME/servers") 2>/dev/null; while [ -f "$HOME/servers" ] && kill -0 $(cat "$HOME/servers") 2>/dev/null; do sleep 0.1; done; true; }
trap stop EXIT`;

/** The blocks of a page for a shell. */
export function shellBlocks(page: string): readonly { readonly info: string; readonly code: string }[] {
  const markdown = readFileSync(join(root, page), 'utf8');
  return [...markdown.matchAll(/^```(sh[^\n]*)\n([\s\S]*?)^```/gm)].map(([, info = '', code = '']) => ({ info, code }));
}
