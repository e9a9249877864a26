import { AppError } from '@croft/protocol';
import type { ToolDescription } from '../../core/calls/describe-tool.ts';
import { createTrustingTracker } from '../../core/content/read/read-tracker.ts';
import { parseJson } from '../../lib/text/parse-json.ts';
import { stripControlSequences } from '../../lib/text/strip-control-sequences.ts';
import { UsageError } from '../../lib/usage-error.ts';
import { type CommandContext, defineCommand } from '../command.ts';
import { openApp, workspaceOptions } from '../options/workspace-options.ts';

export const tool = defineCommand({
  name: 'tool',
  usage: "croft tool [NAME ['{json}']] [--workspace DIR | --workspaces SPEC] [--readonly] [--network MODE] [--json] …",
  examples: ['croft tool', `croft tool read '{"file_path": "README.md"}'`],
  options: {
    ...workspaceOptions,
    json: { type: 'boolean', summary: 'print the structured result or error instead of text' },
  },
  async run({ values, positionals }, terminal) {
    const { stdout, stderr, stop } = terminal;
    const [name, json = '{}', ...rest] = positionals;
    if (rest.length > 0) throw new UsageError(`usage: ${tool.usage}`);
    const input = parseInput(json);
    await using app = await openApp(values, terminal);
    // A person who types an edit has seen the file, and no earlier call could have read it.
    const session = app.newSession('tool', createTrustingTracker());
    try {
      if (name === undefined) return print(terminal, await app.toolbox.list(session), values.json ?? false);
      const { text, structured } = await app.toolbox.call(name, input, { session, signal: stop });
      stdout.write(values.json ? `${JSON.stringify(structured)}\n` : endLine(stripControlSequences(text)));
      return 0;
    } catch (thrown) {
      const error = withOwnWords(AppError.from(thrown));
      stderr.write(
        values.json ? `${JSON.stringify({ error })}\n` : `${error.code}: ${stripControlSequences(error.text)}\n`,
      );
      return 1;
    } finally {
      await session.close();
    }
  },
});

/** Prints name and title of each tool, or the full description with `--json`. */
function print({ stdout }: CommandContext, tools: readonly ToolDescription[], isJson: boolean): number {
  const width = Math.max(...tools.map(({ name }) => name.length));
  const rows = tools.map(({ name, title }) => `${name.padEnd(width)}  ${title}\n`);
  stdout.write(isJson ? `${JSON.stringify({ tools })}\n` : rows.join(''));
  return 0;
}

function withOwnWords(error: AppError): AppError {
  if (error.code !== 'E_UNKNOWN_TOOL') return error;
  const { code, message, details } = error;
  return new AppError(code, message, { details, hint: 'See the names offered here with: croft tool' });
}

function parseInput(json: string): unknown {
  const input = parseJson(json);
  if (input === undefined) throw new UsageError(`the input is not JSON: ${json.slice(0, 80)}`);
  return input;
}

function endLine(text: string): string {
  return text === '' || text.endsWith('\n') ? text : `${text}\n`;
}
