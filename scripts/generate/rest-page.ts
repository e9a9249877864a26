import { toOpenApi } from '../../packages/croft/src/rest/open-api/open-api.ts';
import { generatedNote, table } from './markdown-table.ts';

interface Operation {
  readonly summary?: string;
  readonly description?: string;
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly required?: boolean }[];
  readonly requestBody?: object;
  readonly responses: Readonly<Record<string, { readonly description: string }>>;
}

const methods = ['get', 'post', 'put', 'patch', 'delete'] as const;
type PathItem = Partial<Record<(typeof methods)[number], Operation>>;

const intro = `Every route of \`croft serve\`. [openapi.json](../openapi.json) has the shapes of requests and answers; the server answers
it at \`/openapi.json\`, and the SDK is made of the same declarations. A key goes into
\`Authorization: Bearer\`. \`{…}\` in a path is an id or a name. Errors are in [errors](errors.md).`;

/** The routes, grouped by what they are about. A route of several addresses is listed once, at its shortest. */
export function toRestPage(): string {
  const { paths } = toOpenApi() as unknown as { paths: Readonly<Record<string, PathItem>> };
  const isAlias = (path: string) => path.startsWith('/accounts/me/') && path.replace('/accounts/me', '/v1') in paths;
  const groups = Map.groupBy(
    Object.entries(paths).filter(([path]) => !isAlias(path)),
    ([path]) => toGroup(path),
  );
  const sections = [...groups].map(([group, items]) => {
    const rows = items.flatMap(([path, item]) => methods.flatMap((method) => toRow(method, path, item[method])));
    return `## ${group}\n\n${table(['route', 'does', 'needs', 'query', 'errors'], rows)}`;
  });
  return [generatedNote, '# REST\n', `${intro}\n`, ...sections].join('\n');
}

function toGroup(path: string): string {
  const [, first = '', second = ''] = path.split('/');
  const name = first === 'v1' ? second : first;
  return /^\/[\w.]*$/.test(path) && name !== 'accounts'
    ? 'Server'
    : name.replace(/^./, (letter) => letter.toUpperCase()).replaceAll('-', ' ');
}

function toRow(method: string, path: string, operation: Operation | undefined): string[][] {
  if (!operation) return [];
  const { summary = '', description = '', parameters = [], responses } = operation;
  const query = parameters.filter((one) => one.in === 'query').map(({ name }) => `\`${name}\``);
  const errors = Object.entries(responses).flatMap(([status, one]) => (Number(status) < 400 ? [] : one.description));
  const codes = [...new Set(errors.flatMap((text) => text.match(/E_[A-Z_]+/g) ?? []))].filter(
    (code) => !general.has(code),
  );
  const route = `\`${method.toUpperCase()} ${path}\``;
  return [[route, summary, description, query.join(' '), codes.map((code) => `\`${code}\``).join(' ')]];
}

/** Every route may answer these. */
const general = new Set([
  'E_UNAUTHORIZED',
  'E_RATE_LIMITED',
  'E_INTERNAL',
  'E_STOPPING',
  'E_INVALID_INPUT',
  'E_FORBIDDEN',
]);
