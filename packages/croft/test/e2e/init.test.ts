import { spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import { dirname, join } from 'node:path';
import { parse as parseJsonWithComments } from 'jsonc-parser';
import { parse as parseToml } from 'smol-toml';
import { describe, expect, test } from 'vitest';
import { makeDirectory, runCroft } from '../support/harness.ts';

const json = (table: string) => `{
  // my own comment
  "theme": "dark",
  "${table}": {
    "other": { "command": "other", "args": ["--secret-of-mine"] }, /* stays */
  },
  "last": [1, 2]
}
`;
const toml = `# my own comment
model = "best"

[mcp_servers.other]
command = "other" # stays
args = ["a"]

# about the next table
[profiles.fast]
model = "small"
`;

/** Configuration files as people have them, for all eight clients. */
const files: Readonly<Record<string, { readonly file: string; readonly text: string; readonly table: string }>> = {
  'claude-code': { file: '.claude.json', text: json('mcpServers'), table: 'mcpServers' },
  cursor: { file: '.cursor/mcp.json', text: json('mcpServers'), table: 'mcpServers' },
  vscode: { file: '.config/Code/User/mcp.json', text: json('servers'), table: 'servers' },
  codex: { file: '.codex/config.toml', text: toml, table: 'mcp_servers' },
  windsurf: { file: '.codeium/windsurf/mcp_config.json', text: json('mcpServers'), table: 'mcpServers' },
  zed: { file: '.config/zed/settings.json', text: json('context_servers'), table: 'context_servers' },
  gemini: { file: '.gemini/settings.json', text: json('mcpServers').replaceAll('\n', '\r\n'), table: 'mcpServers' },
  opencode: { file: '.config/opencode/opencode.json', text: json('mcp'), table: 'mcp' },
};
type Config = Record<string, unknown>;

const parse = (file: string, text: string): Config =>
  file.endsWith('.toml')
    ? JSON.parse(JSON.stringify(parseToml(text)))
    : parseJsonWithComments(text, [], { allowTrailingComma: true });

/** A home with the files of all clients, and a project. */
function makeHome(given = files) {
  const directory = makeDirectory();
  for (const { file, text } of Object.values(given)) {
    fs.mkdirSync(dirname(directory.at(`home/${file}`)), { recursive: true });
    fs.writeFileSync(directory.at(`home/${file}`), text, { mode: 0o640 });
  }
  fs.mkdirSync(directory.at('project'));
  const at = (file: string) => directory.at(`home/${file}`);
  return {
    at,
    project: directory.at('project'),
    read: (file: string) => fs.readFileSync(at(file), 'utf8'),
    run: (...args: string[]) =>
      runCroft(['init', ...args], { cwd: directory.at('project'), env: { HOME: directory.at('home') } }),
    [Symbol.dispose]: () => directory[Symbol.dispose](),
  };
}

/** opencode has one list of the program and its arguments. */
function argumentsOf(entry: unknown): readonly string[] {
  const { args, command } = entry as { args?: string[]; command: string[] };
  return args ?? command.slice(1);
}

function withoutCroft(config: Config, table: string): Config {
  const servers = { ...(config[table] as Config) };
  delete servers.croft;
  return { ...config, [table]: servers };
}

test('adds croft to the full files of eight clients, and changes nothing else', async () => {
  using home = makeHome();
  const run = await home.run('--yes');
  expect(run, run.stderr).toMatchObject({ exitCode: 0, stderr: '' });
  for (const { file, text, table } of Object.values(files)) {
    const [before, after] = [parse(file, text), parse(file, home.read(file))];
    expect(withoutCroft(after, table), file).toEqual(before);
    expect(argumentsOf((after[table] as Config).croft), file).toEqual(['mcp', '--workspace', expect.any(String)]);
    for (const line of text.split('\n')) expect(home.read(file).split('\n'), file).toContain(line);
    expect(fs.readFileSync(home.at(`${file}.before-croft`), 'utf8')).toBe(text);
    expect(fs.statSync(home.at(file)).mode & 0o777).toBe(0o640);
    expect(run.stdout).toContain('+');
  }
});

test('changes nothing the second time', async () => {
  using home = makeHome();
  await home.run('--yes');
  const once = Object.values(files).map(({ file }) => home.read(file));
  const again = await home.run('--yes');
  expect(again.stdout.match(/has Croft already/g)).toHaveLength(8);
  expect(Object.values(files).map(({ file }) => home.read(file))).toEqual(once);
});

test('replaces an older entry of its own', async () => {
  using home = makeHome();
  await home.run('--yes');
  await home.run('--yes', '--workspace', home.project);
  for (const { file, table } of Object.values(files)) {
    const { croft } = parse(file, home.read(file))[table] as Config;
    expect(argumentsOf(croft).at(-1), file).toBe(home.project);
  }
});

test('has entries that start croft', async () => {
  using home = makeHome({ codex: files.codex! });
  await home.run('--yes');
  const { croft } = parse('.toml', home.read('.codex/config.toml')).mcp_servers as Record<string, { command: string }>;
  const { status, stdout } = spawnSync(croft?.command ?? '', ['--version'], { encoding: 'utf8' });
  expect([status, stdout]).toEqual([0, expect.stringMatching(/^croft \d/)]);
});

test('configures a server that runs already, without its token in any file', async () => {
  using home = makeHome();
  const run = await home.run('--yes', '--http', 'http://127.0.0.1:7070', '--scope', 'user');
  expect(run.exitCode, run.stderr).toBe(0);
  expect(run.stdout).toContain('Zed would need the token in its file');
  for (const { file, table } of Object.values(files).filter(({ file }) => !file.includes('zed'))) {
    const entry = JSON.stringify((parse(file, home.read(file))[table] as Config).croft);
    expect(entry).toContain('http://127.0.0.1:7070/mcp');
    expect(entry, file).toMatch(
      /Bearer \$?\{?(?:env:|input:)?(?:CROFT_TOKEN|croft-token)\}?|"bearer_token_env_var":"CROFT_TOKEN"/,
    );
  }
  const vscode = parse('.json', home.read('.config/Code/User/mcp.json'));
  expect(vscode.inputs).toMatchObject([{ id: 'croft-token', password: true }]);
  await home.run('--yes', '--http', 'http://127.0.0.1:7070');
  expect(parse('.json', home.read('.config/Code/User/mcp.json')).inputs).toHaveLength(1);
});

test('writes files of one project where a client has them', async () => {
  using home = makeHome();
  const run = await home.run('--yes', '--scope', 'project');
  expect(run.stdout).toContain('Windsurf has no file for one project');
  const made = [
    '.mcp.json',
    '.cursor/mcp.json',
    '.vscode/mcp.json',
    '.codex/config.toml',
    '.zed/settings.json',
    'opencode.json',
  ];
  for (const file of made) expect(fs.existsSync(join(home.project, file)), file).toBe(true);
  for (const { file, text } of Object.values(files)) expect(home.read(file)).toBe(text);
});

test.each([
  ['--print', 0, ''],
  ['without a terminal', 2, 'nobody can be asked here, and nothing was changed'],
])('%s changes nothing', async (flag, exitCode, reason) => {
  using home = makeHome();
  const run = await home.run(...(flag === '--print' ? [flag] : []));
  expect(run.exitCode).toBe(exitCode);
  expect(run.stdout).toContain('+');
  expect(run.stderr).toContain(reason);
  for (const { file, text } of Object.values(files)) expect(home.read(file)).toBe(text);
});

test.each([
  ['cursor', '{ "mcpServers": { '],
  ['cursor', '[]'],
  ['cursor', '{ "mcpServers": [] }'],
  ['codex', 'model = \n'],
  ['codex', 'mcp_servers.croft.command = "x"\n'],
])('a file of %s that is broken (%j) changes no file of any client', async (name, text) => {
  const broken = { ...files, [name]: { ...files[name]!, text } };
  using home = makeHome(broken);
  const run = await home.run('--yes');
  expect(run.exitCode).toBe(2);
  expect(run.stderr).toContain('nothing was changed');
  for (const { file, text } of Object.values(broken)) expect(home.read(file)).toBe(text);
});

test('a link to the file stays a link', async () => {
  using home = makeHome({ cursor: files.cursor! });
  fs.renameSync(home.at('.cursor/mcp.json'), home.at('dotfile.json'));
  fs.symlinkSync('../dotfile.json', home.at('.cursor/mcp.json'));
  await home.run('--yes');
  expect(fs.lstatSync(home.at('.cursor/mcp.json')).isSymbolicLink()).toBe(true);
  expect(home.read('dotfile.json')).toContain('"croft"');
});

describe.each([
  ['darwin', 'Library/Application Support/Code/User/mcp.json'],
  ['win32', 'AppData/Roaming/Code/User/mcp.json'],
])('on %s', (platform, file) => {
  const start = join(import.meta.dirname, '../../bin/start.mjs');
  const pretend = `data:text/javascript,Object.defineProperty(process, 'platform', { value: '${platform}' })`;
  const runThere = (home: string, ...args: string[]) =>
    spawnSync(process.execPath, ['--import', pretend, start, ...args], {
      ...{ encoding: 'utf8', timeout: 60_000, cwd: home },
      env: { HOME: home, PATH: process.env.PATH },
    });

  test('a client is configured for a server elsewhere, in the file that it has there', () => {
    using home = makeDirectory();
    fs.mkdirSync(dirname(home.at(file)), { recursive: true });
    const run = runThere(home.path, 'init', '--http', 'http://127.0.0.1:7070', '--yes');
    expect([run.status, run.stderr]).toEqual([0, '']);
    expect(JSON.parse(fs.readFileSync(home.at(file), 'utf8')).servers.croft.url).toBe('http://127.0.0.1:7070/mcp');
  });

  test.each([['init', '--client', 'cursor', '--print'], ['mcp'], ['serve', '--demo'], ['tool', 'read'], ['runner']])(
    '%s says in one line where a server can run',
    (...args) => {
      using home = makeDirectory();
      const run = runThere(home.path, ...args);
      expect([run.status, run.stdout]).toEqual([2, '']);
      expect(run.stderr).toMatch(/^[^\n]*croft init --http http:[^\n]*\n$/);
      expect(fs.readdirSync(home.path)).toEqual([]);
    },
  );

  test('help and version work', () => {
    using home = makeDirectory();
    for (const args of [['help'], ['--version'], ['serve', '--help'], ['workspaces', '--help']])
      expect(runThere(home.path, ...args), args.join(' ')).toMatchObject({ status: 0, stderr: '' });
  });
});

test.each([
  [['--client', 'emacs'], 'there is no client emacs; choose one of: claude-code, cursor'],
  [['--scope', 'all'], '--scope takes user or project'],
  [['--http', 'ftp://x'], '--http takes an http or https address'],
  [['--http', 'http://me:pw@x'], 'an address without a password'],
  [['--http', 'http://x', '--workspace', '.'], 'exclude each other'],
  [['here'], 'croft init --help'],
])('%j is refused', async (args, reason) => {
  using home = makeHome();
  const run = await home.run(...args);
  expect(run.exitCode).toBe(2);
  expect(run.stderr).toContain(reason);
});

test('a person is asked for each file', () => {
  using home = makeHome({ cursor: files.cursor!, codex: files.codex! });
  const croft = join(import.meta.dirname, '../../bin/croft');
  // `script` of util-linux gives the program a terminal.
  const ask = (answers: string) =>
    spawnSync('script', ['-qec', `${croft} init`, '/dev/null'], {
      ...{ cwd: home.project, encoding: 'utf8', input: answers, timeout: 60_000 },
      env: { HOME: dirname(home.at('x')), PATH: process.env.PATH },
    });
  expect(ask('n\ny\n').stdout).toMatch(/Change .*mcp\.json\? \[y\/N\].*Change .*config\.toml\? \[y\/N\]/s);
  expect(home.read('.cursor/mcp.json')).toBe(files.cursor!.text);
  expect(home.read('.codex/config.toml')).toContain('[mcp_servers.croft]');
});
