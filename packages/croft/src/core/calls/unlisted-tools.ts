import { AppError } from '@croft/protocol';
import { z } from 'zod';
import { findNearest } from '../arguments/nearest-name.ts';
import { defineTool, type Tool, type ToolAccess } from '../tools/tool.ts';
import type { ToolDescription } from './describe-tool.ts';
import { renderSchema, renderSignature } from './render-tool.ts';
import { toolsByName } from './tools-by-name.ts';

/** The tools of one toolbox, apart by whether clients list them. */
interface UnlistedToolsOptions {
  readonly listed: readonly Tool[];
  readonly unlisted: readonly Tool[];
  /** Describes a tool of the toolbox. */
  describe(name: string): ToolDescription | undefined;
}

/** A call by the name of its tool. */
export interface NamedCall {
  readonly name: string;
  readonly rawInput: unknown;
}

export type UnlistedTools = ReturnType<typeof createUnlistedTools>;

export const unlistedToolsName = 'tools';

const accesses: readonly ToolAccess[] = ['read', 'write', 'execute'];
const maxShown = 200;

const input = z.object({
  name: z.string().min(1).optional().describe('One of these tools; without arguments, answers what it takes'),
  arguments: z.record(z.string(), z.unknown()).optional().describe('Call the tool with these; {} for none'),
});

/**
 * The tool `tools`, which shows the unlisted tools to a client that can call only listed ones, and names them in calls.
 *
 * It runs none of them: `readCall` turns a call of `tools` into the call of the named tool before anything else happens
 * to it, so that access, approval, audit and events are those of the named tool. Listed tools are refused, because
 * people have rules for them in their clients, by name.
 */
export function createUnlistedTools({ listed, unlisted, describe }: UnlistedToolsOptions) {
  const byName = toolsByName(unlisted);
  const tool = defineTool({
    name: unlistedToolsName,
    title: 'More tools',
    description: describeAll(unlisted),
    toolset: 'session',
    isEveryday: true,
    access: 'read',
    reach: 'none',
    idempotent: false,
    // The answer of a call is that of the named tool, and may be an image.
    answersImages: true,
    input,
    output: z.looseObject({}),
    run: async ({ name, arguments: given }) => {
      if (name !== undefined) return describeOne(mustFind(name));
      if (given !== undefined) throw new AppError('E_INVALID_INPUT', 'arguments without the name of the tool to call');
      return listAll();
    },
  });

  return {
    tool,
    /** The most that any of the tools does. */
    access: accesses.findLast((access) => unlisted.some((one) => one.access === access)) ?? 'read',

    /** Returns the call that a call of `tools` stands for. `undefined`: it asks about tools, or is not valid. */
    readCall(rawInput: unknown): NamedCall | undefined {
      const { name, arguments: given } = readInput(tool, rawInput);
      return name !== undefined && given !== undefined && byName.has(name) ? { name, rawInput: given } : undefined;
    },
  };

  function mustFind(name: string): ToolDescription {
    const found = describe(byName.get(name)?.name ?? '');
    if (found) return found;
    const own = toolsByName(listed).get(name)?.name;
    if (own !== undefined) throw new AppError('E_INVALID_INPUT', `${own} is a listed tool: call ${own} itself`);
    const shown = name.slice(0, maxShown);
    const nearest = findNearest(shown, [...byName.keys()]);
    throw new AppError('E_UNKNOWN_TOOL', `there is no tool named ${shown} here; the nearest is ${nearest}`, {
      details: { tool: shown },
    });
  }

  function listAll() {
    const rows = unlisted.flatMap(({ name }) => describe(name) ?? []);
    const sets = [...new Set(rows.map(({ toolset }) => toolset))];
    const lines = sets.flatMap((set) => [
      `${set}:`,
      ...rows.filter(({ toolset }) => toolset === set).map((row) => `  ${renderSignature(row)}  ${row.title}`),
    ]);
    const tools = rows.map(({ name, title, toolset, access }) => ({ name, title, toolset, access }));
    return { text: [...lines, howToCall].join('\n'), structured: { tools, howToCall } };
  }
}

const howToCall =
  'tools {"name": NAME} answers what a tool takes; tools {"name": NAME, "arguments": {…}} calls it. A name with ? may be ' +
  'left out.';

function describeAll(unlisted: readonly Tool[]): string {
  return (
    'List, explain and call the tools that are not listed by themselves. Without arguments: all of them. With name: what ' +
    'that tool takes. With name and arguments: calls it. They are ' +
    `${unlisted.map(({ name }) => name).join(', ')}.`
  );
}

function describeOne(description: ToolDescription) {
  const { name, title, toolset, access, inputSchema } = description;
  const text = [
    `${name}: ${description.description}`,
    ...renderSchema(inputSchema),
    `call it with tools {"name": "${name}", "arguments": {…}}`,
  ].join('\n');
  return {
    text,
    structured: { tool: { name, title, toolset, access, description: description.description, inputSchema } },
  };
}

/** Reads the input as the tool itself would. Returns nothing for one that the tool refuses. */
function readInput(tool: Tool, rawInput: unknown): z.output<typeof input> {
  try {
    return input.parse(tool.prepare(rawInput).input);
  } catch {
    return {};
  }
}
