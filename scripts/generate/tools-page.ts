import type { ToolDescription } from '../../packages/croft/src/core/calls/describe-tool.ts';
import { createToolListing } from '../../packages/croft/src/core/calls/tool-listing.ts';
import { selectTools } from '../../packages/croft/src/core/toolsets/select-tools.ts';
import { createWorkspaceSet } from '../../packages/croft/src/core/workspace/workspace-set.ts';
import * as tools from '../../packages/croft/src/tools/index.ts';
import { generatedNote, table } from './markdown-table.ts';
import { toToolsetsSection } from './toolsets-section.ts';

interface Property {
  readonly type?: string | readonly string[];
  readonly enum?: readonly string[];
  readonly default?: unknown;
  readonly description?: string;
}

export function toToolsPage(): string {
  const { present, describe } = createToolListing(Object.values(tools), {
    workspaces: createWorkspaceSet([]),
    isListed: selectTools().isListed,
  });
  const described = describe().toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const overview = table(
    ['tool', 'toolset', 'listed', 'access', 'what it does'],
    described.map(({ name, toolset, isListed, access, title }) => [
      `[\`${name}\`](#${name})`,
      `\`${toolset}\``,
      isListed ? 'yes' : '',
      access,
      title,
    ]),
  );
  const aliasesOf = (name: string) => present.find((tool) => tool.name === name)?.aliases ?? [];
  const sections = described.map((description) => toSection(description, aliasesOf(description.name)));
  const parts = [`${intro}\n`, `${argumentsIntro}\n`, toToolsetsSection(described), '## All tools\n', overview];
  return [generatedNote, '# Tools\n', ...parts, ...sections].join('\n');
}

const argumentsIntro =
  'An argument that a tool does not have is refused before anything happens, and the error names the nearest one. ' +
  'Well-known spellings of other systems work: `filePath` for `file_path`, `workdir` for `cwd`, `-i`, `-A`, `-B`, `-C` ' +
  'and `include` of `grep`, `background` of `bash`, `file` for `files`, `start_line` and `end_line` or `aroundLine` of ' +
  '`read`. A number or a boolean may be written as a string.';

const intro =
  'Every call takes the same path and answers text and `structuredContent`, each of which says all that matters: some ' +
  'clients show their model only one of them. An image comes as an image, without `structuredContent`. An error is in ' +
  'the text and, for programs, in `_meta["croft/error"]` with `code`, `kind`, `message`, `hint` and `details`; over REST ' +
  'it is `error` of the body. Neither text nor `structuredContent` is longer than 40 kB over MCP: what was left out of ' +
  'the middle is there by `next_page`. A call that takes long sends progress every few seconds to a client that gave a ' +
  'token. With `--readonly`, only tools of access `read` are there.';

function toSection({ name, description, inputSchema }: ToolDescription, aliases: readonly string[]): string {
  const { properties = {}, required = [] } = inputSchema as {
    properties?: Record<string, Property>;
    required?: readonly string[];
  };
  const rows = Object.entries(properties).map(([argument, property]) => [
    `\`${argument}\``,
    toType(property),
    required.includes(argument) ? 'yes' : '',
    toMeaning(property),
  ]);
  const also = aliases.length > 0 ? `\nAlso called ${aliases.map((alias) => `\`${alias}\``).join(', ')}.\n` : '';
  const takes =
    rows.length > 0 ? `\n${table(['argument', 'type', 'required', 'meaning'], rows)}` : '\nTakes nothing.\n';
  return `## ${name}\n\n${description}\n${also}${takes}`;
}

function toType({ type, enum: values }: Property): string {
  return values ? values.map((value) => `\`${value}\``).join(', ') : String(type ?? 'any');
}

function toMeaning({ description = '', default: fallback }: Property): string {
  return fallback === undefined || fallback === '' ? description : `${description} (default \`${fallback}\`)`.trim();
}
