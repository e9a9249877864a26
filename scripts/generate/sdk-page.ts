import { join } from 'node:path';
import { emitDeclarations } from './emit-declarations.ts';
import { generatedNote, table } from './markdown-table.ts';
import { type Declaration, readDeclarations } from './read-declarations.ts';

const intro = `Everything that \`@croft/sdk\` exports, entry by entry. [The guide](sdk.md) says how the parts work together. Types of
answers, such as \`Approval\` and \`Snapshot\`, come from \`@croft/protocol\` and are what the [routes](rest.md) answer.
`;

const entries = [
  ['@croft/sdk', 'index', 'The main entry. It imports nothing of Node.'],
  ['@croft/sdk/ai', 'adapters/ai/index', 'For AI SDK 6 and 7.'],
  ['@croft/sdk/openai', 'adapters/openai/index', 'For the OpenAI Agents SDK.'],
  ['@croft/sdk/langchain', 'adapters/langchain/index', 'For LangChain and deepagents.'],
  ['@croft/sdk/mastra', 'adapters/mastra/index', 'For Mastra.'],
  ['@croft/sdk/testing', 'testing/index', 'A server in memory, for tests of programs.'],
] as const;

const clientIntro = `\`croft.client\`, and what \`createClient\` returns, has one method for each [route](rest.md). A method takes the names in the
path, then the body or the query, then options. \`all\` reads page after page.
`;

/** The reference of the SDK, from its types and their comments. */
export function toSdkPage(): string {
  const sections = emitDeclarations('sdk', (directory) => [
    ...entries.map(([name, file, about]) => toSection(name, about, readDeclarations(join(directory, `${file}.d.ts`)))),
    toClientSection(readDeclarations(join(directory, 'client/create-client.d.ts'))),
  ]);
  return [generatedNote, '# Reference of the SDK\n', intro, ...sections].join('\n');
}

/** The compiler writes the client out in thousands of lines: the names of its methods say what there is. */
function toClientSection(declarations: readonly Declaration[]): string {
  const { code } = declarations.find(({ name }) => name === 'createClientOn') ?? { code: '' };
  const groups = new Map<string, string[]>();
  for (const [, outer, inner] of code.matchAll(/^(?: {4}(\w+)| {8}(\w+))[:(]/gm)) {
    const [last] = [...groups.keys()].slice(-1);
    if (outer !== undefined) groups.set(outer, []);
    else if (last !== undefined && inner !== undefined) groups.get(last)?.push(inner);
  }
  const rows = [...groups].map(([group, methods]) => [
    `\`${group}${methods.length === 0 ? '()' : ''}\``,
    methods.map((one) => `\`${one}\``).join(' '),
  ]);
  return ['## The client\n', clientIntro, table(['member', 'methods'], rows)].join('\n');
}

function toSection(name: string, about: string, declarations: readonly Declaration[]): string {
  const isValue = ({ code }: Declaration) => /^export declare (?:class|function)/.test(code);
  const ordered = [...declarations.filter(isValue), ...declarations.filter((one) => !isValue(one))];
  return [`## ${name}\n`, `${about}\n`, ...ordered.map(toEntry)].join('\n');
}

function toEntry({ name, about, code }: Declaration): string {
  const paragraphs = about === '' ? [] : [`${about.replaceAll('<', '\\<')}\n`];
  return [`### ${name}\n`, ...paragraphs, '```ts', toReadable(code), '```', ''].join('\n');
}

/** Leaves out what a reader does not need: \`export declare\`, and \`undefined\` beside a question mark. */
function toReadable(code: string): string {
  return code
    .replaceAll(/^export (?:declare )?|^ {4}#private;\n/gm, '')
    .replaceAll(/(\?: .*?) \| undefined(?=[;,)])/g, '$1')
    .replaceAll(/^( +)/gm, (spaces) => ' '.repeat(spaces.length / 2));
}
