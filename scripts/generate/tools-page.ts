import { describeTool, type ToolDescription } from '../../packages/croft/src/core/tool-description.ts';
import { createWorkspaceSet } from '../../packages/croft/src/core/workspace-set.ts';
import * as tools from '../../packages/croft/src/tools/index.ts';
import { generatedNote, table } from './markdown.ts';

interface Property {
  readonly type?: string | readonly string[];
  readonly enum?: readonly string[];
  readonly default?: unknown;
  readonly description?: string;
}

export function toToolsPage(): string {
  const none = createWorkspaceSet([]);
  const described = Object.values(tools)
    .map((tool) => ({ tool, description: describeTool(tool, none) }))
    .sort((a, b) => (a.tool.name < b.tool.name ? -1 : 1));
  const overview = table(
    ['tool', 'access', 'what it does'],
    described.map(({ tool }) => [`[\`${tool.name}\`](#${tool.name})`, tool.access, tool.title]),
  );
  const sections = described.map(({ tool, description }) => toSection(description, tool.aliases ?? []));
  return [generatedNote, '# Tools\n', `${intro}\n`, overview, ...sections].join('\n');
}

const intro =
  'Every call takes the same path and answers text for the model and `structuredContent` for programs. An error has ' +
  '`structuredContent.error` with `code`, `kind`, `message`, `hint` and `details`. With `--readonly`, only tools of ' +
  'access `read` are there.';

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
