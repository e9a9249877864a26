import { errorCatalog } from '@croft/protocol';
import type { Code, Page } from './page-types.ts';

/** Names that the program and the repository really have. */
export interface KnownNames {
  /** The flags of each command. */
  readonly commands: ReadonlyMap<string, ReadonlySet<string>>;
  /** `npm run NAME`. */
  readonly scripts: ReadonlySet<string>;
  /** `GET /v1/agents/{}`: methods and paths, with `{}` for each parameter. */
  readonly routes: ReadonlySet<string>;
}

/** Flags that every command has. */
const common = ['help', 'json', 'version'];

/** Commands, flags, scripts, routes and error codes that a page names and that do not exist. */
export function findUnknownNames(pages: readonly Page[], known: KnownNames): string[] {
  return pages.flatMap(({ source, codes, markdown }) => [
    ...[...new Set(codes.flatMap((code) => judge(code, known)))].map((problem) => `${source}: ${problem}`),
    ...findErrorCodes(markdown).map((code) => `${source}: there is no error ${code}`),
  ]);
}

function judge(code: Code, known: KnownNames): string[] {
  return [
    ...findCalls(code).flatMap((call) => judgeCall(call, known)),
    ...judgeScripts(code, known),
    ...judgeRoutes(code, known),
  ];
}

/** Command lines that begin with `croft`: lines of a block for a shell, and code in a line of text. */
function findCalls({ text, info }: Code): string[] {
  if (info !== undefined && !/^(?:sh\b|console\b|$)/.test(info)) return [];
  return text
    .replaceAll(/\\\n\s*/g, ' ')
    .split('\n')
    .flatMap((line) => /(?:^|[|;&(] ?|npx |sudo |[A-Z_]+=\S+ )(croft (?:[a-z-]).*)$/.exec(line.trim())?.[1] ?? []);
}

function judgeCall(call: string, { commands }: KnownNames): string[] {
  const [own = ''] = call.split(/ [|;&] | -- | # /);
  const [, names = ''] = own.split(/\s+/);
  // `croft keys|agents list` is two commands.
  return names.split('|').flatMap((name) => judgeOne(name, own, commands));
}

function judgeOne(name: string, own: string, commands: KnownNames['commands']): string[] {
  const flags = commands.get(name);
  if (flags === undefined) return name.startsWith('-') || name === 'help' ? [] : [`there is no command croft ${name}`];
  const named = [...own.replaceAll(/'[^']*'|"[^"]*"/g, '').matchAll(/ --([a-z][a-z-]*)/g)].map(([, flag = '']) => flag);
  const unknown = named.filter((flag) => !flags.has(flag) && !common.includes(flag));
  return unknown.map((flag) => `croft ${name} has no flag --${flag}`);
}

function judgeScripts({ text }: Code, { scripts }: KnownNames): string[] {
  const named = [...text.matchAll(/\bnpm run (?:-s )?([a-z][\w:-]*)/g)].map(([, name = '']) => name);
  return named.filter((name) => !scripts.has(name)).map((name) => `package.json has no script ${name}`);
}

function judgeRoutes({ text }: Code, { routes }: KnownNames): string[] {
  const named = [...text.matchAll(/\b(GET|POST|PUT|PATCH|DELETE) (\/(?:v1|accounts|audit)[\w/{}-]*)/g)];
  return named
    .map(([, method = '', path = '']) => `${method} ${toPattern(path)}`)
    .filter((route) => ![...routes].some((known) => isSameRoute(known, route)))
    .map((route) => `there is no route ${route}`);
}

/** A parameter of a route takes any name. */
function isSameRoute(known: string, route: string): boolean {
  const [parts, named] = [known.split('/'), route.split('/')];
  return parts.length === named.length && parts.every((part, index) => part === '{}' || part === named[index]);
}

export function toPattern(path: string): string {
  return path.replaceAll(/\{[^}]*\}/g, '{}').replace(/\/$/, '');
}

function findErrorCodes(markdown: string): string[] {
  const named = new Set(markdown.match(/\bE_[A-Z]+(?:_[A-Z]+)*\b/g) ?? []);
  return [...named].filter((code) => !(code in errorCatalog));
}
