import { globSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path/posix';

interface Rule {
  readonly parts: readonly string[];
  readonly packages: readonly string[];
  /** Files are plug-ins: only `index.ts` may import its neighbours. */
  readonly isolated?: true;
}

const protocol = '@croft/protocol';

type Rules = Readonly<Record<string, Rule>>;

/** The architecture: each part of `croft/src` and the only things it may import. */
const rules: Rules = {
  lib: { parts: ['lib'], packages: ['node:*', '@rgrove/parse-xml'] },
  version: { parts: [], packages: ['../package.json'] },
  config: { parts: ['lib'], packages: ['zod', 'node:os', 'node:path'] },
  core: { parts: ['core', 'lib'], packages: [protocol, 'zod', 'diff', 'node:path', 'node:stream'] },
  disk: { parts: ['disk', 'core', 'lib'], packages: [protocol, 'node:*'] },
  init: { parts: ['init', 'core', 'lib'], packages: [protocol, 'node:*'] },
  host: { parts: ['host', 'core', 'lib'], packages: ['node:*'] },
  link: { parts: ['link', 'lib'], packages: [protocol, 'zod', 'ws', 'node:*'] },
  tools: { parts: ['core', 'lib'], packages: [protocol, 'zod'], isolated: true },
  detectors: { parts: ['core', 'lib'], packages: ['zod', 'smol-toml'], isolated: true },
  'test-runners': { parts: ['core', 'lib'], packages: ['zod'], isolated: true },
  linters: { parts: ['core', 'lib'], packages: ['zod'], isolated: true },
  coverage: { parts: ['core', 'lib'], packages: ['zod'], isolated: true },
  'language-servers': { parts: ['core'], packages: [], isolated: true },
  languages: { parts: ['core', 'lib'], packages: [], isolated: true },
  'code-index': { parts: ['code-index', 'core', 'disk', 'lib'], packages: [protocol, 'node:*'] },
  syntax: { parts: ['syntax', 'languages', 'core', 'lib'], packages: [protocol, 'web-tree-sitter', 'node:*'] },
  providers: {
    parts: ['core', 'disk', 'host', 'init', 'lib', 'link'],
    packages: [protocol, 'zod', 'node:*'],
    isolated: true,
  },
  history: { parts: ['history', 'core', 'disk', 'init', 'lib'], packages: [protocol, 'zod', 'node:*'] },
  storages: {
    parts: ['core', 'disk', 'lib'],
    packages: [protocol, 'zod', 'node:*'],
    isolated: true,
  },
  'inner-mcp': {
    parts: ['inner-mcp', 'core', 'lib', 'version'],
    packages: [protocol, 'zod', '@modelcontextprotocol/client', 'node:path', 'node:stream'],
  },
  lsp: { parts: ['lsp', 'core', 'lib', 'version'], packages: [protocol, 'zod', 'node:crypto'] },
  diagrams: {
    parts: ['diagrams', 'core', 'lib'],
    packages: [protocol, '@hpcc-js/wasm-graphviz', '@resvg/resvg-wasm', 'beautiful-mermaid', 'node:*'],
  },
  records: { parts: ['records', 'core', 'lib'], packages: [protocol, 'postgres', 'node:*'] },
  app: {
    parts: [
      ...['code-index', 'core', 'coverage', 'detectors', 'diagrams', 'history', 'inner-mcp', 'language-servers', 'lib'],
      ...['link', 'linters', 'lsp', 'providers', 'records', 'storages', 'syntax', 'test-runners', 'tools'],
    ],
    packages: [protocol, 'zod', 'node:path'],
  },
  runner: { parts: ['runner', 'app', 'core', 'lib', 'link', 'version'], packages: [protocol, 'zod', 'node:*'] },
  doctor: { parts: ['doctor', 'core', 'escapes', 'init', 'lib'], packages: [protocol, 'node:*'] },
  escapes: { parts: ['escapes', 'app', 'core', 'lib'], packages: [protocol, 'node:*'] },
  mcp: {
    parts: ['mcp', 'app', 'core', 'lib', 'version'],
    packages: [protocol, '@modelcontextprotocol/server', '@modelcontextprotocol/server/*', 'node:*'],
  },
  rest: {
    parts: ['rest', 'app', 'core', 'lib', 'version'],
    packages: [protocol, 'client-zip', 'hono', 'hono/*', 'ws', 'node:*'],
  },
  cli: {
    parts: ['cli', 'app', 'config', 'core', 'doctor', 'escapes', 'lib', 'link', 'mcp', 'rest', 'runner', 'version'],
    packages: [protocol, '@croft/sdk', '@hono/node-server', 'jsonc-parser', 'smol-toml', 'ws', 'node:*'],
  },
  embedded: {
    parts: ['embedded', 'app', 'cli', 'config', 'rest'],
    packages: [protocol, '@croft/sdk', 'node:crypto', 'node:path', 'node:stream'],
  },
  main: { parts: ['cli', 'config', 'lib'], packages: ['node:module', 'node:tty'] },
};

const preact = ['preact', 'preact/hooks', '@preact/signals'];

/** The same for the page: each part of `dashboard/src`. The types of the protocol, and never zod, are for all. */
const pageRules: Rules = {
  text: { parts: [], packages: [] },
  browser: { parts: [], packages: preact },
  server: { parts: ['browser'], packages: preact },
  live: { parts: ['server', 'browser', 'text'], packages: preact },
  parts: { parts: ['live', 'server', 'browser', 'text'], packages: preact },
  pages: {
    parts: ['parts', 'live', 'server', 'browser', 'text'],
    packages: [...preact, '@xterm/xterm', '@xterm/xterm/css/xterm.css', '@xterm/addon-fit'],
  },
  shell: { parts: ['pages', 'parts', 'live', 'server', 'browser', 'text'], packages: preact },
  main: { parts: ['shell', 'server', 'browser', 'look'], packages: preact },
};

/** Packages that only one file may import, because that file keeps the promise about them. */
const singleUse: Readonly<Record<string, string>> = { 'node:child_process': 'lib/processes/spawn.ts' };
/** The same for single names: what is temporary is in a directory of ours, and not where everybody could make it. */
const singleNames: Readonly<Record<string, string>> = { tmpdir: 'lib/files/temporary-base.ts' };

/** `file` relative to `croft/src`, or to the tree that `table` is for. */
export function findViolations(file: string, source: string, table: Rules = rules): string[] {
  const rule = table[partOf(file)];
  if (!rule) return [`${file}: add "${partOf(file)}" to the table in scripts/boundaries.ts`];
  const imports = importsIn(source).filter((specifier) => !isAllowed(rule, file, specifier));
  const names = Object.keys(singleNames).filter((name) => singleNames[name] !== file && usesName(source, name));
  return [...imports, ...names].map((what) => `${file}: may not import ${what}`);
}

function usesName(source: string, name: string): boolean {
  return new RegExp(`\\b${name}\\b`).test(source);
}

function isAllowed(rule: Rule, file: string, specifier: string): boolean {
  const only = singleUse[specifier];
  if (only !== undefined) return file === only;
  if (rule.packages.some((pattern) => matches(pattern, specifier))) return true;
  if (!specifier.startsWith('.')) return false;
  const target = partOf(join(dirname(file), specifier));
  if (target !== partOf(file)) return rule.parts.includes(target);
  return !rule.isolated || isIndex(file) || plugInOf(file) === plugInOf(join(dirname(file), specifier));
}

function isIndex(file: string): boolean {
  return file.split('/').length === 2 && file.endsWith('/index.ts');
}

/** A plug-in of several files has a folder, and they may import each other. */
function plugInOf(file: string): string {
  const [part, plugIn, ...rest] = file.split('/');
  return rest.length > 0 ? `${part}/${plugIn}` : file;
}

function importsIn(source: string): string[] {
  return [...source.matchAll(/\b(?:from\s+|import\s*\(?\s*)'([^']+)'/g)].map(([, specifier = '']) => specifier);
}

function partOf(file: string): string {
  return (file.split('/')[0] ?? '').replace(/\.tsx?$/, '');
}

/** A file of the page may name types of the protocol, which are gone when it runs. */
export function findPageViolations(file: string, source: string): string[] {
  return findViolations(
    file,
    source.replaceAll(/^import type [^;]*? from '(?:@croft\/protocol|zod)';$/gm, ''),
    pageRules,
  );
}

function matches(pattern: string, specifier: string): boolean {
  return pattern.endsWith('*') ? specifier.startsWith(pattern.slice(0, -1)) : specifier === pattern;
}

if (import.meta.main) {
  const check = (root: string, find: typeof findPageViolations) =>
    globSync(`${root}/**/*.{ts,tsx}`)
      .filter((file) => !/\.(?:test|d)\.ts$/.test(file))
      .flatMap((file) => find(relative(root, file), readFileSync(file, 'utf8')));
  const program = check('packages/croft/src', (file, source) => findViolations(file, source));
  const violations = [...program, ...check('packages/dashboard/src', findPageViolations)];
  for (const violation of violations) console.error(violation);
  process.exitCode = violations.length > 0 ? 1 : 0;
}
